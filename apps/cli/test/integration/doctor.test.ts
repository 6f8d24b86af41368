import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Orrery } from '../spawn-orrery.ts';

interface Found {
  readonly area: string;
  readonly what: string;
  readonly state: string;
  readonly text: string;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-doctor-'));
  mkdirSync(join(folder, 'agents'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const agent = (name: string, text: string): void =>
  writeFileSync(join(folder, 'agents', `${name}.agent.mjs`), text);

/** A module outside this repository, so it names the package by where it lies. */
const greeter = (id: string): string => `
import { defineAgent } from ${JSON.stringify(new URL('../../../../index.ts', import.meta.url).href)};
export const agent = defineAgent({ id: '${id}', name: '${id.toUpperCase()}', version: '1.0.0', description: 'Greets', tier: 3 });
`;

async function doctor(...words: readonly string[]): Promise<{ code: number | null; found: Found[] }> {
  const { code, stdout } = await new Orrery(['doctor', '--json', ...words], { cwd: folder }).ended;
  return { code, found: JSON.parse(stdout) as Found[] };
}

describe('orrery doctor', () => {
  it('starts the agents of the folder and says that they run', async () => {
    agent('one', greeter('one'));
    agent('two', greeter('two'));
    const { code, found } = await doctor();
    expect(code).toBe(0);
    expect(found.filter(({ area }) => area === 'agents').map(({ what, state }) => [what, state])).toEqual([
      ['one', 'ok'],
      ['two', 'ok'],
    ]);
    expect(found).toContainEqual(expect.objectContaining({ what: 'Node', state: 'ok' }));
  });

  it('names the agent whose module cannot be loaded, and ends with 1', async () => {
    agent('one', 'export const nothing = 1;\n');
    const { code, found } = await doctor();
    expect(code).toBe(1);
    const faults = found.filter(({ state }) => state === 'fault');
    expect(faults).toMatchObject([
      { area: 'agents', text: expect.stringContaining('one.agent.mjs') as string },
    ]);
  });

  it('says that a port is taken, and how another is chosen', async () => {
    agent('one', greeter('one'));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    try {
      const { code, found } = await doctor('--port', String(port));
      expect(code).toBe(0);
      expect(found).toContainEqual(expect.objectContaining({ what: `port ${port}`, state: 'missing' }));
    } finally {
      server.close();
    }
  });

  it('shows what a mounted MCP server says of its tools, and how that is approved (F-09)', async () => {
    const lies = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
    agent(
      'bad',
      `import { mcpServer } from ${lies('../../../../mcp.ts')};
       import { program } from ${lies('../../../../test/fixtures/mcp/mounted.ts')};
       export const bad = mcpServer({ id: 'bad', ...program('bad-server') });`,
    );
    const { found } = await doctor('--approve');
    expect(found.filter(({ area }) => area === 'catalogues')).toMatchObject([
      {
        what: 'bad',
        state: 'missing',
        text: expect.stringMatching(/approved: 'sha256:[0-9a-f]{64}'.*"description":"calls"/) as string,
      },
    ]);
  });
});
