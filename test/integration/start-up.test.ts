import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { CONDITIONS } from '../fixtures/conditions.ts';

const HOOK = new URL('../fixtures/loaded-modules.hook.ts', import.meta.url);
const HOST = fileURLToPath(new URL('../fixtures/starting-host.ts', import.meta.url));
const ROOT = new URL('../..', import.meta.url).href;

const folder = mkdtempSync(join(tmpdir(), 'orrery-start-up-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Thread {
  readonly role: string;
  /** The packages that it loads. */
  readonly packages: ReadonlySet<string>;
  /** How many of our own modules it loads. */
  readonly modules: number;
}

/** The threads of a process that starts this team, the embedder's first, and what each has loaded. */
async function threadsOf(team: string): Promise<readonly Thread[]> {
  const file = join(folder, team);
  const args = [...CONDITIONS, '--import', HOOK.href, HOST, team];
  const env = { ...process.env, LOADED_MODULES: file };
  await promisify(execFile)(process.execPath, args, { env, timeout: 100_000 });
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const threads = Map.groupBy(lines, (line) => line.split(' ', 2).join(' '));
  return [...threads].map(([name, loaded]) => {
    const urls = loaded.map((line) => line.slice(name.length + 1));
    const packages = urls.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
    const own = urls.filter((url) => url.startsWith(ROOT) && !url.includes('/node_modules/'));
    return { role: name.split(' ')[0] as string, packages: new Set(packages), modules: own.length };
  });
}

const rolesOf = (threads: readonly Thread[]): string[] => threads.map(({ role }) => role).sort();

describe('Starting a system', () => {
  it.each([
    ['of nobody', 'nobody', ['control', 'main']],
    ['of inline agents', 'inline', ['control', 'main']],
    ['of one agent in a module', 'thread', ['control', 'main', 'place']],
    ['of agents in two threads', 'threads', ['control', 'main', 'place', 'place']],
    ['of an agent in a process', 'process', ['control', 'main', 'place']],
  ])('%s starts no thread that nobody lives in', async (_, team, roles) => {
    expect(rolesOf(await threadsOf(team))).toEqual(roles);
  });

  it('loads neither prom-client nor yjs nor piscina, in no thread', async () => {
    const threads = await threadsOf('thread');
    expect(threads.length).toBe(3);
    for (const { packages, modules } of threads) {
      expect(modules).toBeGreaterThan(0);
      expect([...packages].sort().join()).toMatch(/^comlink,xstate(,zod)?$/);
    }
  });

  it('loads in the control thread only what it needs: no zod, and a quarter of our modules', async () => {
    const threads = await threadsOf('inline');
    const [control] = threads.filter(({ role }) => role === 'control') as [Thread];
    const [main] = threads.filter(({ role }) => role === 'main') as [Thread];
    expect([...control.packages].sort()).toEqual(['comlink', 'xstate']);
    expect(control.modules).toBeLessThan(main.modules / 4);
  });
});
