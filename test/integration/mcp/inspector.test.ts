import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSystem, type Team } from 'orrery';
import { agentsOfMcp } from '../../fixtures/mcp/team.ts';
import { COMPILED, CONDITIONS } from '../../fixtures/conditions.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { json as jsonOf, text as textOf } from 'node:stream/consumers';

const manifest = fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector/package.json'));
const INSPECTOR = join(dirname(manifest), 'clients/launcher/build/index.js');

/** On a busy machine a server takes its time. */
const PATIENT = ['--connect-timeout', '120000'];

/** What the inspector has answered on standard output, and the code it has ended with: 5 for a tool's own error. */
interface Inspected {
  readonly code: number;
  readonly said: { readonly result: Readonly<Record<string, unknown>> };
}

/** Runs the inspector's command line against a target (a URL, or a command) with a home of its own. */
async function inspect(target: readonly string[], ...options: readonly string[]): Promise<Inspected> {
  const home = mkdtempSync(join(tmpdir(), 'inspector-'));
  try {
    const words = [INSPECTOR, '--cli', ...target, ...options, '--format', 'json', ...PATIENT];
    const child = spawn(process.execPath, words, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, HOME: home },
    });
    const closed = once(child, 'close');
    const errors = textOf(child.stderr);
    const said = await jsonOf(child.stdout).catch(async () => {
      throw new Error(`The inspector has answered nothing: ${await errors}`);
    });
    const [code] = await closed;
    return { code, said: said as Inspected['said'] };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const main = fileURLToPath(new URL('../../../apps/cli/main.ts', import.meta.url));
const agents = fileURLToPath(new URL('../../fixtures/mcp/clerk.agent.ts', import.meta.url));

const given = Object.entries(COMPILED).flatMap(([name, value]) => ['-e', `${name}=${value}`]);

/** One that is served over HTTP in this process, one that the inspector starts itself. */
const targets: Record<'http' | 'stdio', readonly string[]> = {
  http: [],
  stdio: [process.execPath, ...CONDITIONS, main, 'mcp', '--agents', agents, ...given],
};
let system: Team;
beforeAll(async () => {
  system = await startSystem({ agents: agentsOfMcp().agents, workers: 1, spareThread: false });
  const { url } = await system.serve();
  targets.http = [`${url}/mcp`, '--transport', 'http'];
});
afterAll(() => system.stop({ drainMs: 0 }));

describe.each([
  { over: 'http', era: 'modern' },
  { over: 'http', era: 'legacy' },
  { over: 'stdio', era: 'modern' },
  { over: 'stdio', era: 'legacy' },
] as const)(
  'The inspector over $over, $era (N-5.2, N-5.3, N-5.4, N-6.2, N-6.3, N-6.5, N-D11)',
  // Each question starts the inspector's command, and over stdio a server too.
  { timeout: 120_000 },
  ({ over, era }) => {
    const ask = (method: string, ...options: string[]) =>
      inspect(targets[over], '--protocol-era', era, '--method', method, ...options);

    // To call one it lists all, and refuses a name that is not among them.
    it('lists tools, and calls one', async () => {
      const sum = await ask('tools/call', '--tool-name', 'clerk.add', '--tool-arg', 'a=2', 'b=3');
      expect(sum).toMatchObject({ code: 0, said: { result: { structuredContent: { sum: 5 } } } });
    });

    // Behind the transport is the same server: what it says of the rest is asked over one.
    if (over === 'stdio') return;

    it('shows the tools that it lists', async () => {
      const { code, said } = await ask('tools/list');
      expect(code).toBe(0);
      expect(said.result['tools']).toContainEqual(expect.objectContaining({ name: 'clerk.add' }));
    });

    it('ends with its code for what goes wrong in a tool', async () => {
      const refused = await ask('tools/call', '--tool-name', 'clerk.refuse');
      expect(refused).toMatchObject({ code: 5, said: { result: { isError: true } } });
    });

    it('reads a resource, and has a prompt rendered', async () => {
      expect(await ask('resources/read', '--uri', 'notes://today')).toMatchObject({
        code: 0,
        said: { result: { contents: [{ uri: 'notes://today', text: 'Nothing yet' }] } },
      });
      const prompt = await ask('prompts/get', '--prompt-name', 'clerk.greet', '--prompt-args', 'who=you');
      expect(prompt).toMatchObject({
        code: 0,
        said: { result: { messages: [{ role: 'user', content: { text: 'Greet you' } }] } },
      });
    });
  },
);
