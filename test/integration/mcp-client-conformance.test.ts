import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scenario, useServer } from '../fixtures/mcp/conformance-client.ts';

const SUITE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json');
const COMMAND = fileURLToPath(new URL('../fixtures/mcp/conformance-command.ts', import.meta.url));
const file = (name: string): string => SUITE.replace(/package\.json$/, name);

/** The scenarios that a client of this revision has to pass, as the suite lists them. */
function scoredOf(revision: string): readonly string[] {
  const text = readFileSync(file(`requirements/${revision}.yaml`), 'utf8');
  const client = /^client:\n((?: {2}- .*\n)+)/m.exec(text)?.[1] ?? '';
  return client.split('\n').flatMap((line) => /^ {2}- (\S+)$/.exec(line)?.[1] ?? []);
}

const folder = mkdtempSync(join(tmpdir(), 'orrery-conformance-'));
const socket = join(folder, 'clients');

/** The suite starts a command for each scenario, fifty in all. The clients are in this process, which has loaded them once. */
const clients = createServer(async (command, answer) => {
  const scenario = JSON.parse(await text(command)) as Scenario;
  const fault = await useServer(scenario).then(
    () => '',
    (error: Error) => error.stack ?? error.message,
  );
  answer.end(fault);
});

beforeAll(async () => {
  await once(clients.listen(socket), 'listening');
});
afterAll(async () => {
  await once(clients.close(), 'close');
  rmSync(folder, { recursive: true, force: true });
});

/** What the suite says of each scenario, and its exit code. All of them run at once. */
async function run(
  revision: string,
): Promise<{ readonly code: unknown; readonly passed: readonly string[] }> {
  const command = [process.execPath, COMMAND, socket].join(' ');
  const args = ['client', '--command', command, '--requirements', revision, '--timeout', '200000'];
  const suite = spawn(process.execPath, [file('dist/index.js'), ...args], {
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  suite.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const [code] = await once(suite, 'close');
  const summary = said.slice(said.lastIndexOf('SUITE SUMMARY'));
  const passed = [...summary.matchAll(/^✓ (\S+): [1-9]\d* passed, 0 failed/gm)].map(
    ([, name]) => name as string,
  );
  return { code, passed };
}

describe("MCP's conformance suite, against a client that is ours (N-D11)", () => {
  it.each([
    ['2026-07-28', 32],
    ['2025-11-25', 18],
  ])(
    'finds nothing wrong with it in any scenario that counts for %s',
    async (revision, count) => {
      const scored = scoredOf(revision);
      expect(scored).toHaveLength(count);
      const { code, passed } = await run(revision);
      expect(scored.filter((scenario) => !passed.includes(scenario))).toEqual([]);
      expect(code).toBe(0);
    },
    240_000,
  );
});
