import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capability, defineAgent, openJournal, startSystem } from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { journalCommand } from '../../journal-command.ts';
import type { Screen } from '../../screen.ts';
import { orrery } from '../spawn-orrery.ts';

const wait = capability({ id: 'wait', description: 'Waits', input: z.string(), output: z.void() });
const busy = (id: string) =>
  defineAgent({
    id,
    name: id,
    version: '1.0.0',
    description: 'Is never done',
    tier: 2,
    durable: true,
  }).handle(
    wait,
    (_input, { signal }) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
  );

let folder: string;
let journal: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-journal-'));
  journal = join(folder, 'journal.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Leaves two envelopes for each; the first of two had been begun on. */
async function leaveMail(): Promise<void> {
  const system = await startSystem({ journal: { path: journal }, agents: [busy('mars'), busy('venus')] });
  for (const [agent, text] of [
    ['mars', 'one'],
    ['mars', 'two'],
    ['venus', 'one'],
    ['venus', 'two'],
  ] as const)
    system.tell({ agent, capability: wait }, text);
  await system.whenKept();
  await system.stop({ drainMs: 0 });
}

describe('orrery journal', () => {
  it('shows what is kept for whom, and forgets an agent', async () => {
    await leaveMail();
    const shown = await orrery('journal', journal);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    const [head, mars, venus, letters] = shown.stdout.split('\n');
    expect(head?.split(/ {2,}/)).toEqual(['AGENT', 'WAITING', 'OLDEST', 'RECORDS', 'TAKEN IDS', 'BYTES']);
    expect(mars).toMatch(/^mars +2 +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +\d+ +0 +\d+$/);
    expect(venus).toMatch(/^venus +2 /);
    expect(letters).toMatch(/^Dead letters: \d+$/);

    const forgotten = await orrery('journal', journal, '--forget', 'mars');
    expect(forgotten).toMatchObject({ code: 0, stderr: '' });
    expect(forgotten.stdout).toMatch(
      /^Forgot mars; envelopes that waited: 2, records: \d+, taken ids: 0, bytes: \d+\n$/,
    );
    const { agents } = JSON.parse((await orrery('journal', journal, '--json')).stdout) as {
      agents: { agentId: string }[];
    };
    expect(agents.map(({ agentId }) => agentId)).toEqual(['venus']);
    const again = await orrery('journal', journal, '--forget', 'mars');
    expect(again).toMatchObject({ code: 1, stderr: 'orrery: REFUSED: The journal keeps nothing for mars\n' });
  });

  it('says when there is none, when it is none, and when a system has it', async () => {
    expect(await orrery('journal', journal)).toMatchObject({
      code: 64,
      stderr: `orrery: There is no journal "${journal}"\nSee 'orrery journal --help'.\n`,
    });
    expect((await orrery('journal')).stderr).toContain('No file; expected "orrery journal FILE"');
    const text = join(folder, 'text');
    writeFileSync(text, 'x'.repeat(8_192));
    expect((await orrery('journal', text)).stderr).toContain('STORE_INVALID');
    const system = await startSystem({ journal: { path: journal } });
    expect(await orrery('journal', journal)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('STORE_IN_USE'),
    });
    await system.stop();
    const empty = await orrery('journal', journal);
    expect(empty).toMatchObject({ code: 0, stdout: expect.stringContaining('Dead letters: 0') });
  });
});

/** The command in this process: what it writes, and its exit code. */
async function command(options: Record<string, string | true>): Promise<{ code: number; text: string }> {
  const written: string[] = [];
  const screen = { write: (more: string) => void written.push(more) } as unknown as Screen;
  const code = await journalCommand(options, [journal], { screen });
  return { code, text: written.join('') };
}

describe('A damaged journal', () => {
  it('is refused by a system that starts on it, which names the way to go on: --check and --salvage', async () => {
    await leaveMail();
    expect(await command({ check: true })).toEqual({
      code: 0,
      text: expect.stringMatching(/journal\.db is whole; commits: \d+, envelopes: 4, records: \d+\n$/),
    });
    const older = readFileSync(journal);
    const system = await startSystem({ journal: { path: journal }, agents: [busy('mars')] });
    system.tell({ agent: 'mars', capability: wait }, 'three');
    await system.whenKept();
    await system.stop({ drainMs: 0 });
    writeFileSync(journal, older);

    await expect(startSystem({ journal: { path: journal }, agents: [busy('mars')] })).rejects.toMatchObject({
      code: 'STORE_INVALID',
      message: expect.stringMatching(
        /commits the last \d+ are missing: .*"orrery journal \S+ --check" says what/,
      ),
    });
    expect(await orrery('journal', journal, '--check')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^Damaged: of its \d+ commits the last \d+ are missing: it is an older copy, or its log \S+ is gone\n$/,
      ),
      stderr: '',
    });
    const { damage } = JSON.parse((await command({ check: true, json: true })).text) as { damage: string[] };
    expect(damage).toHaveLength(1);

    const salvaged = join(folder, 'salvaged.db');
    expect(await command({ salvage: salvaged })).toEqual({
      code: 0,
      text: expect.stringMatching(/has what is whole; envelopes: 4, records: \d+\nLost: of its \d+ commits/),
    });
    expect(readFileSync(journal).equals(older)).toBe(true);
    await expect(command({ salvage: salvaged })).rejects.toMatchObject({
      message: expect.stringContaining('expected the path of a file that is not there yet'),
    });
    await expect(command({ check: true, forget: 'mars' })).rejects.toThrow('cannot be given together');
    await using file = await openJournal(salvaged);
    expect((await file.agents()).map(({ agentId, waiting }) => [agentId, waiting])).toEqual([
      ['mars', 2],
      ['venus', 2],
    ]);
  }, 120_000);
});

describe('A journal', () => {
  it('tells a running system what is kept for whom, and forgets those only that are not in the team', async () => {
    await leaveMail();
    const system = await startSystem({ journal: { path: journal }, agents: [busy('venus')] });
    const kept = await system.records.agents();
    expect(kept.find(({ agentId }) => agentId === 'mars')).toMatchObject({ waiting: 2, isInTeam: false });
    expect(kept.find(({ agentId }) => agentId === 'venus')).toMatchObject({ isInTeam: true });
    await expect(system.records.forgetAgent('venus')).rejects.toMatchObject({ code: 'REFUSED' });
    expect(await system.records.forgetAgent('mars')).toMatchObject({ agentId: 'mars', waiting: 2 });
    await expect(system.records.forgetAgent('mars')).rejects.toMatchObject({ code: 'REFUSED' });
    await system.start([busy('mars')]);
    expect(await system.conservation()).toMatchObject({ holds: true });
    expect((await system.roster()).find(({ id }) => id === 'mars')).toMatchObject({
      waiting: 0,
      status: 'running',
    });
    await system.stop({ drainMs: 0 });
    await using file = await openJournal(journal);
    expect((await file.agents()).map(({ agentId }) => agentId)).not.toContain('mars');
  });
});
