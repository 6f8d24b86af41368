import { describe, expect, it } from 'vitest';
import { SeenRequests, seenRequestsOf } from '../../../../gateway/admit/seen-requests.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { rejection } from '../../../fixtures/until.ts';

const MINUTE = 60_000;

/** Records whose writes wait while `disk.isFull`, as those of a journal do. */
function setUp() {
  const clock = new FakeClock();
  const disk = { isFull: false, failure: undefined as Error | undefined };
  const values = new Map<string, unknown>();
  const waiting: (() => void)[] = [];
  const records = {
    put: async (_: string, key: string, value: unknown): Promise<void> => {
      if (disk.failure !== undefined) throw disk.failure;
      const { promise, resolve } = Promise.withResolvers<void>();
      if (disk.isFull) waiting.push(resolve);
      else resolve();
      await promise;
      if (value === undefined) values.delete(key);
      else values.set(key, value);
    },
    async *read() {
      for (const [key, value] of values) yield { key, value };
    },
  };
  const times = (most = 10) => ({ untilMs: clock.now() + MINUTE, nowMs: clock.now(), most });
  const makeRoom = (): void => {
    disk.isFull = false;
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { clock, disk, values, waiting, records, times, makeRoom, kept: { records, clock } };
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

describe('The requests that were let in', () => {
  it('are each new once, also of two at once, and in the next process (X-52)', async () => {
    const { kept, times } = setUp();
    const seen = await SeenRequests.open(kept);
    expect(await Promise.all([seen.note('a', times()), seen.note('a', times())])).toEqual(['new', 'seen']);
    const next = await SeenRequests.open(kept);
    expect(await next.note('a', times())).toBe('seen');
    expect(await next.note('b', times())).toBe('new');
  });

  it('are forgotten when they cannot come again: as time goes on, and at the start', async () => {
    const { kept, clock, values, times } = setUp();
    const seen = await SeenRequests.open(kept);
    await seen.note('a', times());
    clock.advance(MINUTE);
    expect(await seen.note('a', times())).toBe('seen');
    clock.advance(1_000);
    await seen.note('b', times());
    expect([...values.keys()]).toEqual(['b']);
    clock.advance(MINUTE + 1);
    const next = await SeenRequests.open(kept);
    await settled();
    expect(values.size).toBe(0);
    expect(await next.note('b', times(1))).toBe('new');
    expect(await next.note('c', times(1))).toBe('full');
  });

  it('are none while they cannot be kept: nobody waits for ever, and nothing heaps up (X-52)', async () => {
    const { kept, clock, disk, values, waiting, times, makeRoom } = setUp();
    const seen = await SeenRequests.open(kept);
    disk.isFull = true;
    const refused = { code: 'STORE_FAILED', details: { fault: 'UNAVAILABLE', retryAfterMs: 1_000 } };
    const first = expect(seen.note('a', times())).rejects.toMatchObject(refused);
    clock.advance(5_000);
    await first;
    for (const request of ['a', 'b', 'c'])
      await expect(seen.note(request, times())).rejects.toMatchObject(refused);
    expect(waiting).toHaveLength(1);
    makeRoom();
    await settled();
    expect(values.size).toBe(0);
    expect(await seen.note('a', times())).toBe('new');
    expect([...values.keys()]).toEqual(['a']);
    expect(clock.pending).toBe(0);
  });

  it('are none when the journal refuses them, as that of a system that has stopped', async () => {
    const { kept, disk, times } = setUp();
    const seen = await SeenRequests.open(kept);
    disk.failure = new Error('the system has stopped');
    expect((await rejection(seen.note('a', times()))).message).toBe('the system has stopped');
    disk.failure = undefined;
    expect(await seen.note('a', times())).toBe('new');
  });

  it('are one memory for all who serve a system, and one of its own for each system', async () => {
    const { times, kept } = setUp();
    const [system, other] = [{}, {}];
    const [a, b] = await Promise.all([seenRequestsOf(system, undefined), seenRequestsOf(system, undefined)]);
    expect([await a.note('a', times()), await b.note('a', times())]).toEqual(['new', 'seen']);
    expect(await (await seenRequestsOf(other, undefined)).note('a', times())).toBe('new');
    const failing = {
      ...kept,
      records: {
        ...kept.records,
        read: () => {
          throw new Error('no disk');
        },
      },
    };
    const third = {};
    expect((await rejection(seenRequestsOf(third, failing))).message).toBe('no disk');
    expect(await (await seenRequestsOf(third, kept)).note('a', times())).toBe('new');
  });
});
