import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capability, defineAgent, openJournal, startSystem } from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
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
  }, 60_000);

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
  }, 60_000);
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
  }, 60_000);
});
