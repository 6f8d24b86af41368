import { beforeEach, describe, expect, it } from 'vitest';
import { JournalledUpdateLog } from '../../../../actors/shared-state/journalled-update-log.ts';
import type { SyncSnapshot } from '../../../../actors/shared-state/update-log.ts';
import { MemoryMedium, MemoryStore } from '../../../../runtime/journal/memory-store.ts';
import type { StoreBatch } from '../../../../runtime/protocol/store.ts';
import { AgentJournal } from '../../../fixtures/agent-journal.ts';
import { rejection } from '../../../fixtures/until.ts';
import { turns } from './sync-team.ts';

const snapshotOf = (...state: number[]): SyncSnapshot => ({
  state: Uint8Array.from(state),
  vectorClock: { mars: state.length },
  sessions: { mars: 1 },
  takenAtMs: 1,
});

let medium: MemoryMedium;
let store: MemoryStore;
let written: StoreBatch[];
/** Called before each write. */
let beforeWrite: () => Promise<void> | undefined;
let journal: AgentJournal;
beforeEach(() => {
  medium = new MemoryMedium();
  beforeWrite = () => undefined;
  written = [];
  begin();
});

/** Another process, on what the former one has left. */
function begin(): void {
  store = new MemoryStore({
    medium,
    beforeWrite: (batches) => {
      written.push(...batches);
      return beforeWrite();
    },
  });
  journal = new AgentJournal(store);
}

async function logOf(name = 'plan', agentId = 'mars'): Promise<JournalledUpdateLog> {
  return new JournalledUpdateLog(await journal.recordsOf(agentId), name);
}

async function loadedLog(name = 'plan', agentId = 'mars'): Promise<JournalledUpdateLog> {
  const log = await logOf(name, agentId);
  await log.load();
  return log;
}

/** What is left of the document when the process ends here. */
async function afterCrash({ survives }: { survives: boolean }) {
  journal.end();
  store.crash({ survives });
  begin();
  const { snapshot, updates } = await (await logOf()).load();
  return { snapshot: snapshot && [...snapshot.state], updates: updates.map((update) => [...update]) };
}

/** Holds the writes from here on back; what is returned lets them go. */
function hold(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  beforeWrite = () => promise;
  return resolve;
}

const isSettled = async (work: Promise<unknown>): Promise<boolean> => {
  let settled = false;
  void work.then(() => {
    settled = true;
  });
  await turns(50);
  return settled;
};

describe('A log in the journal (F-01, N-9.3)', () => {
  it('resolves an update and a snapshot when they are written, and not before', async () => {
    const log = await loadedLog();
    for (const work of [() => log.append(Uint8Array.of(1)), () => log.compact(snapshotOf(1))]) {
      const letGo = hold();
      const done = work();
      expect(await isSettled(done)).toBe(false);
      letGo();
      await done;
    }
  });

  it('waits while the journal cannot write, loses nothing, and goes on when it can', async () => {
    const log = await loadedLog();
    await log.append(Uint8Array.of(1));
    beforeWrite = () => Promise.reject(new Error('disk full'));
    const done = [log.append(Uint8Array.of(2)), log.compact(snapshotOf(1, 2)), log.append(Uint8Array.of(3))];
    expect(await isSettled(Promise.race(done))).toBe(false);
    expect(journal.failures).toMatchObject([{ message: 'disk full' }]);
    beforeWrite = () => undefined;
    journal.tryAgain();
    await Promise.all(done);
    expect(await afterCrash({ survives: false })).toEqual({ snapshot: [1, 2], updates: [[3]] });
  });

  it('writes a snapshot and the end of what it takes the place of in one unit', async () => {
    const log = await loadedLog();
    for (const byte of [1, 2, 3]) await log.append(Uint8Array.of(byte));
    written.length = 0;
    await log.compact(snapshotOf(1, 2, 3));
    const [unit, ...others] = written.filter(({ records }) => records.length > 0);
    expect(others).toEqual([]);
    expect(unit?.records.map(({ value }) => value !== undefined)).toEqual([true, false, false, false]);
  });

  it.each([true, false])(
    'has the old or the new after a crash while it compacts, and nothing between (written: %s)',
    async (survives) => {
      const log = await loadedLog();
      await log.compact(snapshotOf(1));
      await log.append(Uint8Array.of(2));
      await log.append(Uint8Array.of(3));
      hold();
      void log.compact(snapshotOf(1, 2, 3));
      await turns(50);
      const expected = survives
        ? { snapshot: [1, 2, 3], updates: [] }
        : { snapshot: [1], updates: [[2], [3]] };
      expect(await afterCrash({ survives })).toEqual(expected);
    },
  );

  it('has its documents and those of other agents apart', async () => {
    const names = ['plan', 'plan/a', 'pla', 'document/plan', ' ', 'ä'];
    for (const [at, name] of names.entries()) {
      for (const agentId of ['mars', 'mars2', 'venus']) {
        const log = await loadedLog(name, agentId);
        await log.append(Uint8Array.of(at, agentId.length));
      }
    }
    await (await loadedLog('plan', 'mars')).compact(snapshotOf(9));
    for (const [at, name] of names.entries()) {
      for (const agentId of ['mars', 'mars2', 'venus']) {
        const { snapshot, updates } = await (await logOf(name, agentId)).load();
        const isCompacted = name === 'plan' && agentId === 'mars';
        expect(updates.map((update) => [...update])).toEqual(isCompacted ? [] : [[at, agentId.length]]);
        expect(snapshot !== undefined).toBe(isCompacted);
      }
    }
  });

  it('leaves one record behind a compaction, however many there were and in how many processes', async () => {
    const records = () => [...(medium.records.get('agent') ?? [])].length;
    for (let life = 0; life < 5; life++) {
      const log = await loadedLog();
      await Promise.all(Array.from({ length: 700 }, (_, at) => log.append(Uint8Array.of(at % 256))));
      expect(records()).toBeGreaterThanOrEqual(700);
      await log.compact(snapshotOf(life));
      expect(records()).toBe(1);
      await log.append(Uint8Array.of(life));
      journal.end();
      await store.close();
      begin();
    }
    expect(records()).toBe(2);
  });

  it('is read from the journal when an agent opens it another time in one process', async () => {
    const records = await journal.recordsOf('mars');
    const first = new JournalledUpdateLog(records, 'plan');
    await first.load();
    const letGo = hold();
    const appended = first.append(Uint8Array.of(1));
    const second = new JournalledUpdateLog(records, 'plan');
    const loaded = second.load();
    expect(await isSettled(loaded)).toBe(false);
    letGo();
    await appended;
    expect((await loaded).updates.map((update) => [...update])).toEqual([[1]]);
    await second.append(Uint8Array.of(2));
    expect((await second.load()).updates).toHaveLength(2);
  });

  it('names what it cannot read, moves it aside where nothing takes its place, and gives the rest', async () => {
    const records = await journal.recordsOf('mars');
    const log = new JournalledUpdateLog(records, 'plan');
    await log.load();
    for (const byte of [1, 2, 3]) await log.append(Uint8Array.of(byte));
    const kind = 'document/plan';
    const [, second] = (await records.list(kind)).map(({ key }) => key);
    records.put(kind, 'snapshot', { state: 'AQ==', of: 'another version' });
    records.put(kind, second as string, 7);
    records.put(kind, 'other', 'AQ==');
    const loaded = await log.load();
    expect(loaded.snapshot).toBeUndefined();
    expect(loaded.updates.map((update) => [...update])).toEqual([[1], [3]]);
    expect(loaded.unreadable?.map((reason) => reason.split(':')[0])).toEqual([
      'Its record "other" cannot be read',
      'Its snapshot cannot be read',
      `Its record "${second}" cannot be read`,
    ]);
    await log.append(Uint8Array.of(4));
    await log.compact(snapshotOf(1, 3, 4));
    const again = await (await logOf()).load();
    expect(again).toMatchObject({ updates: [], unreadable: [] });
    const kept = Object.fromEntries((await records.list(kind)).map(({ key, value }) => [key, value]));
    expect(kept).toMatchObject({
      'aside/snapshot': { state: 'AQ==', of: 'another version' },
      [`aside/${second}`]: 7,
      'aside/other': 'AQ==',
    });
  });

  it('refuses to be written to before it was loaded, and a name of several lines', async () => {
    const log = await logOf();
    for (const work of [log.append(Uint8Array.of(1)), log.compact(snapshotOf(1))])
      expect(await rejection(work)).toMatchObject({
        code: 'REFUSED',
        message: expect.stringContaining('plan'),
      });
    const other = await loadedLog('a\nb').catch((error: unknown) => error);
    expect(other).toMatchObject({ code: 'INVALID_OPTIONS' });
  });
});
