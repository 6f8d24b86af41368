import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PayloadSchemas, STANDARD_SCHEMAS } from 'orrery/agentmesh';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const PROCESS = fileURLToPath(new URL('../fixtures/agentmesh-process.ts', import.meta.url));
const run = promisify(execFile);
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-agentmesh-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function found(what: 'identity' | 'schemas', path: string): Promise<unknown> {
  const { stdout, stderr } = await run(process.execPath, [PROCESS, what, path]);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe('AgentMesh in another process', () => {
  it('has a registered schema under the same id (M-20)', async () => {
    const directory = join(folder, 'schemas');
    new PayloadSchemas({ directory }).register('x-mycompany/invoice/v1', { required: ['total'] });
    expect(await found('schemas', directory)).toEqual({
      ids: [...Object.keys(STANDARD_SCHEMAS), 'x-mycompany/invoice/v1'].sort(),
      outcomes: ['invalid', 'valid'],
    });
  });

  it('is the same agent as in those that made the identity at the same time', async () => {
    const file = join(folder, 'keys', 'identity.json');
    const all = await Promise.all(Array.from({ length: 4 }, () => found('identity', file)));
    const { amid, signing_public_key: signingPublicKey } = JSON.parse(readFileSync(file, 'utf8'));
    expect(all).toEqual(Array(4).fill({ amid, signingPublicKey }));
    expect(readdirSync(join(folder, 'keys'))).toEqual(['identity.json']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
