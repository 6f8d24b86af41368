import { beforeEach, describe, expect, it } from 'vitest';
import { History, type Remembered } from '../../../runtime/journal/history.ts';
import { type HistoryLimits, HistoryOptions } from '../../../runtime/journal/journal-options.ts';
import { MemoryMedium, MemoryStore } from '../../../runtime/journal/memory-store.ts';
import { SCHEMA_VERSION } from '../../../runtime/protocol/envelope.ts';
import { storeFailed } from '../../../runtime/protocol/errors.ts';
import type { StoreBatch } from '../../../runtime/protocol/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const loop = { yieldTurn: (run: () => void) => void setImmediate(run) };
const STARTED_MS = 1_800_000_000_000;
const WRITTEN_MS = 300;
const RETRIED_MS = 6_000;

let clock: FakeClock;
let medium: MemoryMedium;
let missing: string[];
let beforeWrite: (batches: readonly StoreBatch[]) => void;

beforeEach(() => {
  clock = new FakeClock();
  medium = new MemoryMedium();
  missing = [];
  beforeWrite = () => undefined;
});

/** One process with the store; the next one is after `crash`. */
async function opened(
  limits: Partial<HistoryOptions> = {},
): Promise<{ history: History; crash: () => void }> {
  const store = new MemoryStore({ medium, beforeWrite: (batches) => beforeWrite(batches) });
  const onMissing = (reason: string) => void missing.push(reason);
  const parsed: HistoryLimits = HistoryOptions.parse(limits);
  const history = await History.open({ store, clock, loop, limits: parsed, onMissing });
  return { history, crash: () => void store.crash() };
}

const envelope = (n: number, correlationId = 'talk', payload: unknown = `word ${n}`) =>
  JSON.stringify({
    id: `e-${n}`,
    schemaVersion: SCHEMA_VERSION,
    sender: 'ada',
    recipient: 'bo',
    correlationId,
    type: 'notification',
    timestamp: STARTED_MS + n,
    payload,
    metadata: { tier: 2 },
  });

const refusal = (n: number) =>
  JSON.stringify({ type: 'routing-decision', timestamp: STARTED_MS + n, security: true, success: false });

const traffic = (...texts: string[]): Remembered => ({ traffic: texts, missed: 0 });
const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, at) => envelope(from + at));
const idsIn = async (history: History, correlationId = 'talk') =>
  (await history.envelopes(correlationId)).map(({ id }) => id);
const kept = (kind: string) => [...(medium.records.get(`history-${kind}`) ?? new Map<string, string>())];

describe('What a journal remembers of what happened', () => {
  it('is there for the next process, as far as it was written, in order', async () => {
    const first = await opened();
    first.history.add(traffic(envelope(1), envelope(2, 'other'), envelope(3)));
    first.history.add({ security: [refusal(1)], crossings: [refusal(2)], missed: 0 });
    await clock.advanceAsync(WRITTEN_MS);
    first.history.add(traffic(envelope(4)));
    first.crash();
    const second = await opened();
    expect(await idsIn(second.history)).toEqual(['e-1', 'e-3']);
    expect(await idsIn(second.history, 'other')).toEqual(['e-2']);
    expect(await second.history.events(10)).toEqual([JSON.parse(refusal(2)), JSON.parse(refusal(1))]);
    expect(missing).toEqual([]);
  });

  it('is found before it is written, and written when the journal is closed', async () => {
    const { history, crash } = await opened();
    history.add(traffic(envelope(1)));
    expect(await idsIn(history)).toEqual(['e-1']);
    await history.close();
    crash();
    expect(await idsIn((await opened()).history)).toEqual(['e-1']);
  });

  it('is written some time behind, in one write for all that came meanwhile', async () => {
    let writes = 0;
    beforeWrite = () => {
      writes += 1;
    };
    const { history } = await opened();
    await clock.advanceAsync(WRITTEN_MS);
    for (let n = 0; n < 200; n++) history.add(traffic(envelope(n)));
    expect(writes).toBe(0);
    await clock.advanceAsync(WRITTEN_MS);
    expect(writes).toBe(1);
    expect(await idsIn(history)).toHaveLength(200);
  });

  it('is bounded in number, and of the newest', async () => {
    const { history } = await opened({ traffic: { maxCount: 32 } });
    for (let round = 0; round < 10; round++) {
      history.add(traffic(...numbered(10, round * 10)));
      await clock.advanceAsync(WRITTEN_MS);
      expect((await idsIn(history)).length).toBeLessThanOrEqual(32);
    }
    const ids = await idsIn(history);
    expect(ids.length).toBeGreaterThanOrEqual(28);
    expect(ids.at(-1)).toBe('e-99');
    expect(ids[0]).toBe(`e-${100 - ids.length}`);
  });

  it('is bounded where more comes at once than may be kept', async () => {
    const { history } = await opened({ traffic: { maxCount: 32 } });
    history.add(traffic(...numbered(500)));
    await clock.advanceAsync(WRITTEN_MS);
    expect(await idsIn(history)).toEqual(Array.from({ length: 32 }, (_, at) => `e-${468 + at}`));
    history.add(traffic(envelope(500)));
    await clock.advanceAsync(WRITTEN_MS);
    expect((await idsIn(history)).at(-1)).toBe('e-500');
  });

  it('is bounded in bytes', async () => {
    const maxBytes = 65_536;
    const { history } = await opened({ traffic: { maxBytes } });
    for (let n = 0; n < 40; n++) {
      history.add(traffic(envelope(n, 'talk', 'é'.repeat(4_000))));
      await clock.advanceAsync(WRITTEN_MS);
    }
    const bytes = kept('traffic').reduce((sum, [, value]) => sum + Buffer.byteLength(value), 0);
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(bytes).toBeGreaterThan(maxBytes / 2);
    expect((await idsIn(history)).at(-1)).toBe('e-39');
  });

  it('is bounded in age, for whoever asks and in the store, also where nothing comes any more', async () => {
    const { history } = await opened({ traffic: { maxAgeMs: 10_000 } });
    history.add({ traffic: [envelope(1)], security: [refusal(1)], missed: 0 });
    await clock.advanceAsync(WRITTEN_MS);
    expect(await idsIn(history)).toEqual(['e-1']);
    clock.jump(11_000);
    expect(await idsIn(history)).toEqual([]);
    await clock.advanceAsync(3_700_000);
    expect(kept('traffic')).toEqual([]);
    expect(kept('security')).toHaveLength(1);
  });

  it('is held to smaller bounds by the next process that has them', async () => {
    const first = await opened();
    first.history.add(traffic(...numbered(300)));
    await clock.advanceAsync(WRITTEN_MS);
    first.crash();
    const second = await opened({ traffic: { maxCount: 100 } });
    await clock.advanceAsync(WRITTEN_MS);
    const ids = await idsIn(second.history);
    expect(ids.length).toBeLessThanOrEqual(100);
    expect(ids.at(-1)).toBe('e-299');
    second.crash();
    const third = await opened();
    third.history.add(traffic(envelope(300)));
    await clock.advanceAsync(WRITTEN_MS);
    expect(await idsIn(third.history)).toEqual([...ids, 'e-300']);
  });

  it('waits while the disk is full, within a bound, and says how much was not kept', async () => {
    const { history } = await opened();
    await clock.advanceAsync(WRITTEN_MS);
    beforeWrite = () => {
      throw storeFailed('journal', 'write', 'the disk is full');
    };
    history.add(traffic(...numbered(10)));
    await clock.advanceAsync(WRITTEN_MS);
    expect(missing).toEqual([]);
    const large = 'x'.repeat(1_000);
    for (let n = 10; n < 4_000; n++) history.add(traffic(envelope(n, 'talk', large)));
    const held = await idsIn(history);
    expect(held.length).toBeLessThan(2_100);
    await clock.advanceAsync(RETRIED_MS);
    beforeWrite = () => undefined;
    await clock.advanceAsync(60_000);
    expect(await idsIn(history)).toEqual(held);
    const told = missing.map((reason) =>
      Number(/^(\d+) events were not kept: .*the disk is full/.exec(reason)?.[1]),
    );
    expect(told.reduce((sum, count) => sum + count, 0)).toBe(4_000 - held.length);
    history.add(traffic(envelope(4_000)));
    await clock.advanceAsync(WRITTEN_MS);
    expect((await idsIn(history)).at(-1)).toBe('e-4000');
  });

  it('says what threads could not give, at once and then once a minute', async () => {
    const { history } = await opened();
    history.add({ missed: 3 });
    for (let n = 0; n < 50; n++) history.add({ missed: 1 });
    expect(missing).toEqual(['3 events were not kept: they came faster than they are written']);
    await clock.advanceAsync(60_000);
    expect(missing).toHaveLength(2);
    expect(missing[1]).toContain('50 events');
  });

  it.each([
    ['a record without a head', 'nonsense'],
    ['an empty record', ''],
    ['a head of another kind', '12 x\n[]'],
    ['a record that is cut off', '1800000000000 2\n[{"id":'],
    ['a record that is no list', '1800000000000 1\n{"correlationId":"talk"}'],
    ['an entry that is no envelope', '1800000000000 1\n[{"correlationId":"talk","id":7}]'],
  ])('leaves out what is damaged, and says so: %s', async (_, value) => {
    const damaged = value.includes('[{"id":') ? value.replace('"id"', '"correlationId":"talk","id"') : value;
    medium.records.set('history-traffic', new Map([['0000000000000001', damaged]]));
    medium.records.set('history-security', new Map([['zzz', damaged]]));
    const { history } = await opened();
    history.add({ traffic: [envelope(1)], security: [refusal(1)], missed: 0 });
    await clock.advanceAsync(WRITTEN_MS);
    expect(await idsIn(history)).toEqual(['e-1']);
    expect(await history.events(10)).toContainEqual(JSON.parse(refusal(1)));
    expect(missing.length).toBeGreaterThan(0);
    for (const reason of missing)
      expect(reason).toMatch(/^\d+ of its entries or records are not what was written/);
  });

  it('does not mistake for a conversation what a payload says of one', async () => {
    const { history } = await opened();
    history.add(traffic(envelope(1, 'another', { correlationId: 'talk' }), envelope(2, 'quote "talk"')));
    await clock.advanceAsync(WRITTEN_MS);
    expect(await idsIn(history)).toEqual([]);
    expect(await idsIn(history, 'quote "talk"')).toEqual(['e-2']);
  });

  it('gives of many events the newest', async () => {
    const { history } = await opened();
    for (let n = 0; n < 20; n++) {
      history.add({ security: Array.from({ length: 50 }, (_, at) => refusal(n * 50 + at)), missed: 0 });
      await clock.advanceAsync(WRITTEN_MS);
    }
    const events = await history.events(100);
    expect(events.length).toBeGreaterThanOrEqual(100);
    expect(events.length).toBeLessThanOrEqual(200);
    expect(await history.events(10_000)).toHaveLength(1_000);
  });
});
