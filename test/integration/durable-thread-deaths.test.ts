import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openJournal, startSystem } from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { donate } from '../fixtures/agents/hoarding.ts';
import { agent, until } from '../fixtures/until.ts';

const GIVEN = 5;

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-durable-'));
  path = join(folder, 'journal.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('The death of a thread, in a system with a journal (F-01)', () => {
  it('leaves in the journal what still waits, and nothing of what was cut off', async () => {
    const system = await startSystem({
      workers: 1,
      journal: { path },
      agents: [agent('hoarder'), agent('donor')],
    });
    // Within one thread, which holds all that there is of them but for the journal.
    for (let n = 0; n < GIVEN; n++)
      await system.ask({ agent: 'donor', capability: donate } as never, n as never);
    const waiting = async () => (await system.roster()).find(({ id }) => id === 'hoarder')?.waiting;
    await until('they are there', async () => (await waiting()) === GIVEN);
    await system.terminate('worker-1');
    const letters = async () => (await system.deadLetters()).map(({ code }) => code);
    await until('one was cut off', async () => (await letters()).length > 0);
    await until('the others are there again', async () => (await waiting()) === GIVEN - 1);
    expect(await letters()).toEqual(['ACTOR_DIED']);
    await system.whenKept();
    await system.stop({ drainMs: 0 });
    await using journal = await openJournal(path);
    expect(await journal.agents()).toMatchObject([{ agentId: 'hoarder', waiting: GIVEN - 1 }]);
    expect(await journal.deadLetters()).toHaveLength(1);
  });
});
