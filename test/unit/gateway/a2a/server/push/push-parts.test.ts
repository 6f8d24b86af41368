import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskChange } from '../../../../../../runtime/protocol/task.ts';
import { PushFeed, type PushNews } from '../../../../../../gateway/a2a/server/push/push-feed.ts';
import { outcomeOf, waitBeforeNext } from '../../../../../../gateway/a2a/server/push/push-retry.ts';
import { KeyedSemaphore } from '../../../../../../gateway/a2a/server/push/keyed-semaphore.ts';

const never = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('KeyedSemaphore', () => {
  it('never lets more through than it may, altogether and of a key, and lets everybody through in the end', async () => {
    const arbitrary = fc.record({
      most: fc.integer({ min: 1, max: 5 }),
      each: fc.integer({ min: 1, max: 3 }),
      visits: fc.array(fc.record({ host: fc.nat(3), owner: fc.nat(2) }), { maxLength: 30 }),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, fc.scheduler(), async ({ most, each, visits }, scheduler) => {
        const semaphore = new KeyedSemaphore(most, each);
        const inside: string[] = [];
        const visit = async ({ host, owner }: { host: number; owner: number }): Promise<void> => {
          const keys = [`host ${host}`, `owner ${owner}`];
          const leave = await semaphore.enter(keys, never);
          inside.push(...keys);
          expect(inside.length).toBeLessThanOrEqual(most * 2);
          for (const key of keys)
            expect(inside.filter((other) => other === key).length).toBeLessThanOrEqual(each);
          await scheduler.schedule(Promise.resolve());
          for (const key of keys) inside.splice(inside.indexOf(key), 1);
          leave();
        };
        const all = Promise.all(visits.map(visit));
        await scheduler.waitFor(all);
        expect(inside).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('holds nobody up for another key', async () => {
    const semaphore = new KeyedSemaphore(10, 1);
    await semaphore.enter(['slow'], never);
    let isThrough = false;
    void semaphore.enter(['slow'], never).then(() => {
      isThrough = true;
    });
    const leave = await semaphore.enter(['quick'], never);
    leave();
    await turn();
    expect(isThrough).toBe(false);
  });

  it('lets through who may go, past those who may not yet', async () => {
    const semaphore = new KeyedSemaphore(2, 1);
    await semaphore.enter(['slow'], never);
    const leave = await semaphore.enter(['other'], never);
    const went: string[] = [];
    void semaphore.enter(['slow'], never).then(() => went.push('slow'));
    void semaphore.enter(['quick'], never).then(() => went.push('quick'));
    leave();
    await turn();
    expect(went).toEqual(['quick']);
  });

  it('forgets who gives up waiting', async () => {
    const semaphore = new KeyedSemaphore(1, 1);
    const leave = await semaphore.enter(['one'], never);
    const giveUp = new AbortController();
    const waiting = semaphore.enter(['one'], giveUp.signal);
    giveUp.abort(new Error('no longer'));
    await expect(waiting).rejects.toThrow('no longer');
    leave();
    leave();
    await expect(semaphore.enter(['one'], never)).resolves.toBeTypeOf('function');
  });
});

describe('when a receiver is asked again', () => {
  const limits = { attempts: 20, ageMs: 86_400_000, firstMs: 1_000, longestMs: 3_600_000 };
  const failed = { kind: 'failed', reason: 'The receiver answered 500' } as const;

  it('counts 2xx alone as taken, 410 as gone, redirects as failures', () => {
    const kinds = [200, 202, 204, 299, 300, 301, 302, 307, 308, 400, 401, 404, 409, 410, 429, 500, 503, 0];
    expect(Object.fromEntries(kinds.map((status) => [status, outcomeOf(status).kind]))).toEqual(
      Object.fromEntries(
        kinds.map((status) => [
          status,
          status >= 200 && status < 300 ? 'taken' : status === 410 ? 'gone' : 'failed',
        ]),
      ),
    );
  });

  it('waits longer each time, within half and the whole of the back-off, and never beyond the longest', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 19 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempt, chance) => {
          const waitMs = waitBeforeNext(failed, { attempt, failingForMs: 0, random: () => chance }, limits);
          const wholeMs = Math.min(3_600_000, 1_000 * 2 ** (attempt - 1));
          expect(waitMs).toBeGreaterThanOrEqual(wholeMs / 2);
          expect(waitMs).toBeLessThanOrEqual(wholeMs);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('gives up after so many attempts, after so long, and at once where nobody wants it or may be asked', () => {
    const at = (attempt: number, failingForMs: number) => ({ attempt, failingForMs, random: () => 0 });
    expect(waitBeforeNext(failed, at(19, 0), limits)).toBeDefined();
    expect(waitBeforeNext(failed, at(20, 0), limits)).toBeUndefined();
    expect(waitBeforeNext(failed, at(2, 86_399_999), limits)).toBeUndefined();
    expect(waitBeforeNext({ kind: 'gone', reason: '' }, at(1, 0), limits)).toBeUndefined();
    expect(waitBeforeNext({ kind: 'refused', reason: '' }, at(1, 0), limits)).toBeUndefined();
  });

  it('comes back no sooner than the receiver says, and no later than the longest wait', () => {
    const waitAfter = (retryAfterMs: number) =>
      waitBeforeNext({ ...failed, retryAfterMs }, { attempt: 1, failingForMs: 0, random: () => 0 }, limits);
    expect(waitAfter(30_000)).toBe(30_000);
    expect(waitAfter(10)).toBe(1_000);
    expect(waitAfter(10 ** 12)).toBe(3_600_000);
  });
});

const status = (generation: number): TaskChange => ({
  kind: 'status',
  generation,
  atMs: 1,
  state: 'working',
});
const message = (generation: number): TaskChange => ({
  kind: 'message',
  generation,
  atMs: 1,
  message: { messageId: `m${generation}`, role: 'user', parts: [{ text: 'hello' }] },
});
const chunk = (
  generation: number,
  id: string,
  text: string,
  append = true,
  lastChunk = false,
): TaskChange => ({
  kind: 'artifact',
  generation,
  atMs: 1,
  artifact: { artifactId: id, parts: [{ text }] },
  append,
  lastChunk,
});

async function* over(changes: readonly TaskChange[]): AsyncGenerator<TaskChange, void> {
  yield* changes;
}

/** All news; before the first and between two pieces the receiver is as slow as `slow` says. */
async function newsOf(changes: readonly TaskChange[], slow: () => Promise<void>): Promise<PushNews[]> {
  const feed = new PushFeed(over(changes));
  const all: PushNews[] = [];
  await slow();
  for (let news = await feed.next(); news !== undefined; news = await feed.next()) {
    all.push(news);
    await slow();
  }
  return all;
}

/** What a receiver makes of it: the artifacts, and the states in their order. */
function told(news: readonly TaskChange[]): { artifacts: Record<string, string>; states: number[] } {
  const artifacts: Record<string, string> = {};
  const states: number[] = [];
  for (const change of news) {
    if (change.kind === 'status') states.push(change.generation);
    if (change.kind !== 'artifact') continue;
    const { artifactId, parts } = change.artifact;
    const text = parts.map((part) => ('text' in part ? part.text : '')).join('');
    artifacts[artifactId] = (change.append ? (artifacts[artifactId] ?? '') : '') + text;
  }
  return { artifacts, states };
}

describe('PushFeed', () => {
  const arbChange = fc.oneof(
    fc.record({ kind: fc.constant('status' as const) }),
    fc.record({ kind: fc.constant('message' as const) }),
    fc.record({
      kind: fc.constant('artifact' as const),
      id: fc.constantFrom('a', 'b'),
      size: fc.constantFrom(1, 100, 70_000),
      append: fc.boolean(),
      lastChunk: fc.boolean(),
    }),
  );

  it('leaves a receiver with the same artifacts and every state, however slow it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbChange, { maxLength: 80 }), fc.boolean(), async (steps, isSlow) => {
        const changes = steps.map((step, at) => {
          const generation = at + 1;
          if (step.kind === 'status') return status(generation);
          if (step.kind === 'message') return message(generation);
          const text = `${generation},`.padEnd(step.size, '.');
          return chunk(generation, step.id, text, step.append, step.lastChunk);
        });
        const news = await newsOf(changes, isSlow ? turn : async () => undefined);
        expect(told(news)).toEqual(told(changes));
        const numbers = news.map(({ generation }) => generation);
        expect(numbers).toEqual([...numbers].sort((one, other) => one - other));
        for (const change of news)
          if (change.kind === 'artifact') {
            const size = change.artifact.parts.reduce(
              (sum, part) => sum + ('text' in part ? part.text.length : 0),
              0,
            );
            expect(size).toBeLessThanOrEqual(128 * 1024);
          }
      }),
      { numRuns: 100 },
    );
  });

  it('makes few pieces of many for a slow receiver', async () => {
    const changes = [
      chunk(1, 'a', 'x', false),
      ...Array.from({ length: 1_000 }, (_, at) => chunk(at + 2, 'a', 'x', true, at === 999)),
      status(1_002),
    ];
    const news = await newsOf(changes, turn);
    expect(news.length).toBeLessThanOrEqual(3);
    expect(told(news)).toEqual({ artifacts: { a: 'x'.repeat(1_001) }, states: [1_002] });
    const last = news.findLast((change) => change.kind === 'artifact');
    expect(last).toMatchObject({ lastChunk: true, generation: 1_001 });
  });

  it('puts no more together than fits into one request', async () => {
    const changes = Array.from({ length: 10 }, (_, at) => chunk(at + 1, 'a', 'x'.repeat(50_000), at > 0));
    const news = await newsOf(changes, turn);
    const sizes = news.map((change) => (told([change]).artifacts['a'] ?? '').length);
    expect(Math.max(...sizes)).toBe(100_000);
    expect(told(news)).toEqual(told(changes));
  });

  it('reads no further ahead than a receiver can be behind', async () => {
    let read = 0;
    async function* endless(): AsyncGenerator<TaskChange, void> {
      for (;;) yield status(++read);
    }
    const feed = new PushFeed(endless());
    await turn();
    await turn();
    expect(read).toBeLessThanOrEqual(33);
    for (let generation = 1; generation <= 100; generation++)
      expect((await feed.next())?.generation).toBe(generation);
    await turn();
    expect(read).toBeLessThanOrEqual(133);
  });

  it('tells what came before the changes failed, and then that they did', async () => {
    async function* breaking(): AsyncGenerator<TaskChange, void> {
      yield status(1);
      throw new Error('the log is gone');
    }
    const feed = new PushFeed(breaking());
    await turn();
    expect((await feed.next())?.generation).toBe(1);
    await expect(feed.next()).rejects.toThrow('the log is gone');
  });
});
