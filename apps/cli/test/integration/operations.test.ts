import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { capability, checkJournal, defineAgent, startSystem } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CONDITIONS } from '../../../../test/fixtures/conditions.ts';
import { rejection, until } from '../../../../test/fixtures/until.ts';
import { MAIN, Orrery } from '../spawn-orrery.ts';

const PAGE = readFileSync(new URL('../../../../docs/operations.md', import.meta.url), 'utf8');
const AGENT = fileURLToPath(new URL('../../../../test/fixtures/agents/once-tally.agent.ts', import.meta.url));
const blocks = (language: string): readonly string[] =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, text]) => text as string,
  );
const [unit = ''] = blocks('ini');
const [makeBackup = '', prune = '', restore = ''] = blocks('sh');

let root: string;
let journal: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-operations-'));
  journal = join(root, 'lib/journal.db');
  for (const name of ['lib', 'backups', 'bin', 'run']) mkdirSync(join(root, name));
  const words = [process.execPath, ...CONDITIONS, MAIN].map((word) => `'${word}'`).join(' ');
  writeFileSync(join(root, 'bin/orrery'), `#!/bin/sh\nexec ${words} "$@"\n`);
  chmodSync(join(root, 'bin/orrery'), 0o755);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What stands on the page, with folders of the test's. */
const here = (text: string): string =>
  text
    .replaceAll('/var/lib/team', join(root, 'lib'))
    .replaceAll('/var/backups/team', join(root, 'backups'))
    .replaceAll('/run/team', join(root, 'run'));

/** Runs commands of the page one after the other; the first that fails ends them. */
async function run(commands: string, env: Record<string, string> = {}): Promise<string> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', here(commands)], {
    env: { ...process.env, PATH: `${join(root, 'bin')}:${process.env['PATH']}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void said.push(text));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`It ended with ${code}: ${said.join('')}`);
  return said.join('');
}

const note = capability({ id: 'note', description: 'Notes a number', input: z.int(), output: z.void() });
const to = { agent: 'notary', capability: note };
/** How much waits for the notary at most: every system that begins with a backup handles that. */
const WAITING = 200;

/** It is slow: there is always something that waits. */
const notary = (noted: number[]) =>
  defineAgent({
    id: 'notary',
    name: 'NOTARY',
    version: '1.0.0',
    description: 'Notes numbers',
    tier: 2,
    durable: true,
    delivery: 'retry',
    mailboxCapacity: 100_000,
  }).handle(note, async (n, ctx) => {
    await ctx.sleep(5);
    noted.push(n);
  });

describe('The page of operations', () => {
  it('has a unit whose command serves the team, is backed up while it runs, and ends when it is told to', async () => {
    const [, command = ''] = /^ExecStart=\S+ (.*)$/m.exec(unit) ?? [];
    const [, runtime = ''] = /^Environment=XDG_RUNTIME_DIR=(.*)$/m.exec(unit) ?? [];
    const [, ending] = /^SuccessExitStatus=(.*)$/m.exec(unit) ?? [];
    const words = here(command).replace('mars.ts', AGENT).split(' ');
    const service = new Orrery([...words, '--port', '0'], { env: { XDG_RUNTIME_DIR: here(runtime) } });
    try {
      await service.printed('"ready"');
      const [, url] = /"url":"([^"]+)"/.exec(service.stdout) ?? [];
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      const said = await run(makeBackup);
      expect(said).toMatch(/journal-\S+\.db has what \S+ held; commits: \d+, envelopes: 0, records: \d+\n/);
      expect(said).toMatch(/journal-\S+\.db is whole; commits: \d+/);
      service.child.kill('SIGTERM');
      expect(await service.ended).toMatchObject({ code: Number(ending), stderr: '' });
    } finally {
      service.child.kill('SIGKILL');
    }
  });

  it('has a backup made while sends go on, from which a team goes on with all that was kept', async () => {
    const noted: number[] = [];
    const system = await startSystem({ journal: { path: journal }, agents: [notary(noted)] });
    let sent = 0;
    let kept = 0;
    let goesOn = true;
    const sending = (async () => {
      while (goesOn) {
        await until('there is room', () => sent - noted.length < WAITING);
        for (let at = 0; at < 10; at++) if (system.tell(to, sent).delivered) sent += 1;
        await system.whenKept();
        kept = sent;
      }
    })();
    await until('some is sent', () => kept > 50);
    const first = { kept, noted: noted.length };
    const said = await run(makeBackup);
    const backup = /^(\S+) has what /m.exec(said)?.[1] as string;
    const second = kept;
    const inside = join(root, 'backups/inside.db');
    await system.records.backup(inside);
    expect(second).toBeGreaterThan(first.kept);
    expect(await rejection(system.records.backup(inside))).toMatchObject({ code: 'INVALID_OPTIONS' });
    await until('more is sent', () => kept > second);
    goesOn = false;
    await sending;
    await system.stop({ drainMs: 0 });

    for (const [path, least] of [
      [backup, first],
      [inside, { ...first, kept: second }],
    ] as const) {
      expect(await checkJournal(path)).toMatchObject({ damage: [] });
      await run(`rm -rf /var/lib/team/before; ${restore}`, { backup: path });
      const again: number[] = [];
      const next = await startSystem({ journal: { path: journal }, agents: [notary(again)] });
      await until('all that was left is noted', async () => (await next.conservation()).inFlight === 0);
      // Each was noted before the backup, or is now; none comes twice, and they come in order.
      expect(new Set(again).size).toBe(again.length);
      expect(again).toEqual(again.toSorted((one, other) => one - other));
      const seen = new Set([...noted, ...again]);
      expect(Array.from({ length: least.kept }, (_, n) => n).filter((n) => !seen.has(n))).toEqual([]);
      expect(again.at(-1)).toBeGreaterThanOrEqual(least.kept - 1);
      await next.stop();
    }

    // An older copy in the place of the journal, beside its mark, is told.
    copyFileSync(backup, journal);
    expect(await rejection(startSystem({ journal: { path: journal } }))).toMatchObject({
      code: 'STORE_INVALID',
    });
  });

  it('keeps the last fourteen backups', async () => {
    const made = Array.from(
      { length: 20 },
      (_, at) => `touch /var/backups/team/o-${at}.db /var/backups/team/o-${at}.db-mark`,
    );
    await run(made.join('; sleep 0.01; '));
    await run(prune);
    expect((await run('ls /var/backups/team/*.db | wc -l')).trim()).toBe('14');
    expect(await run('ls /var/backups/team')).not.toMatch(/o-[0-5]\.db/);
  });
});
