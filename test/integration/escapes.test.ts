import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WAYS, WAYS_BY_CHILDREN } from '../fixtures/agents/escapes.ts';
import type { Targets } from '../fixtures/agents/escaper.ts';
import { whyNoBubblewrap } from '../fixtures/bubblewrap.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';
import { readTable, writeTable } from '../fixtures/page-table.ts';

const HOST = fileURLToPath(new URL('../fixtures/escape-host.ts', import.meta.url));
const TABLE = { page: 'escapes.md', first: 'escape tried' };
const ALL_WAYS = [...Object.keys(WAYS), ...Object.keys(WAYS_BY_CHILDREN)];
/** With this variable set the table is not compared but written. */
const WRITES = process.env['ORRERY_WRITE_TABLES'] !== undefined;
const NO_BUBBLEWRAP = whyNoBubblewrap();
const TIERS = ['process', ...(NO_BUBBLEWRAP === undefined ? ['bubblewrap'] : []), 'thread'];

interface Result {
  readonly way: string;
  readonly tier: string;
  readonly result: string;
}

/** Not in the folder for temporary files: bubblewrap has another of that name. */
const home = mkdtempSync('/var/tmp/orrery-escapes-');
const secret = join(home, 'secret', 'secret.env');
const folder = join(home, 'folder');
let victim: ChildProcess;
let servers: Server[];
let results: readonly Result[];

beforeAll(async () => {
  for (const name of ['secret', 'folder', 'readable']) mkdirSync(join(home, name));
  writeFileSync(secret, 'SECRET=1\n');
  symlinkSync(secret, join(home, 'readable', 'link'));
  const database = join(home, 'secret', 'database.db');
  new DatabaseSync(database).exec('CREATE TABLE secrets (secret TEXT)');
  victim = spawn('sleep', ['3600'], { stdio: 'ignore' });
  const socket = join(home, 'socket');
  servers = [createServer((peer) => peer.destroy()), createServer((peer) => peer.destroy())];
  await Promise.all(
    servers.map(
      (server, at) =>
        new Promise<void>((resolve) =>
          at === 0 ? server.listen(0, '127.0.0.1', resolve) : server.listen(socket, resolve),
        ),
    ),
  );
  const { port } = (servers[0] as Server).address() as AddressInfo;
  const link = join(home, 'readable', 'link');
  const targets: Targets = { secret, database, folder, link, victim: victim.pid as number, port, socket };
  results = await attempts(targets);
}, 300_000);
afterAll(() => {
  victim.kill('SIGKILL');
  for (const server of servers) server.close();
  rmSync(home, { recursive: true });
});

async function attempts(targets: Targets): Promise<Result[]> {
  const args = [...CONDITIONS, HOST, JSON.stringify(targets), join(home, 'readable'), ...TIERS];
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const host = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'], cwd: home, env });
  let printed = '';
  host.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await new Promise((resolve) => host.on('close', resolve));
  return printed
    .split('\n')
    .filter((line) => line.startsWith('{"way"'))
    .map((line) => JSON.parse(line) as Result);
}

const verdict = (way: string, tier: string): string | undefined => {
  const found = results.find((result) => result.way === way && result.tier === tier)?.result;
  return found && (found === 'out' ? 'possible' : 'refused');
};

describe('Ways out of a process (F-06)', () => {
  it('are as the table of docs/semantics/escapes.md says, tier by tier', () => {
    expect(results).toHaveLength(TIERS.length * ALL_WAYS.length);
    expect(results.filter(({ result }) => result.startsWith('died'))).toEqual([]);
    const columns = ['thread', 'process', 'bubblewrap'].filter((tier) => TIERS.includes(tier));
    const seen = new Map(
      ALL_WAYS.map((way) => [way, new Map(columns.map((tier) => [tier, verdict(way, tier) as string]))]),
    );
    if (WRITES && NO_BUBBLEWRAP === undefined) writeTable(TABLE, seen);
    const said = readTable(TABLE);
    expect([...said.keys()]).toEqual(ALL_WAYS);
    for (const [way, cells] of seen)
      for (const [tier, cell] of cells)
        expect(`${way}, ${tier}: ${said.get(way)?.get(tier)}`).toBe(`${way}, ${tier}: ${cell}`);
  });

  it('never lead to node:sqlite', () => {
    const bySqlite = results.filter(({ way, tier }) => tier !== 'thread' && way.includes('node:sqlite'));
    expect(bySqlite.length).toBeGreaterThan(4);
    expect(bySqlite.filter(({ result }) => result === 'out')).toEqual([]);
  });

  it('would be found: a thread gets out by most of them', () => {
    const out = results.filter(({ tier, result }) => tier === 'thread' && result === 'out');
    expect(out.length).toBeGreaterThan(20);
    expect(readdirSync(folder).some((name) => name.startsWith('copy-'))).toBe(true);
    expect(existsSync(join(folder, 'v8.log'))).toBe(true);
  });
});
