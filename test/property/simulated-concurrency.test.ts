import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { capability, defineAgent } from '../../index.ts';
import { simulate } from '../../simulate.ts';
import { times } from '../fixtures/effort.ts';

const RUNS = times(60, 300);
const CARD = { version: '1.0.0', description: 'Works', tier: 2 } as const;
const Work = z.object({ n: z.int(), ms: z.number() });
const work = capability({ id: 'test.work', description: 'Works', input: Work, output: z.null() });
const relay = capability({ id: 'test.relay', description: 'Has it done', input: Work, output: z.null() });
/** Outcomes are committed that long after their handlers ended, at the latest. */
const SETTLED_MS = 2;

interface Attempt {
  readonly n: number;
  readonly atMs: number;
  endMs: number | undefined;
}

const arbPlan = () =>
  fc.record({
    seed: fc.integer({ min: 1, max: 1_000_000 }),
    delivery: fc.constantFrom('once' as const, 'retry' as const),
    concurrency: fc.integer({ min: 2, max: 8 }),
    /** How long each takes, and who sends it: the embedder, a neighbour in the thread, or another thread. */
    jobs: fc.array(
      fc.record({
        ms: fc.constantFrom(0, 1, 5, 20, 300),
        by: fc.constantFrom('host', 'near', 'far'),
      }),
      { minLength: 10, maxLength: 60, size: 'max' },
    ),
    /** After how long which threads end. */
    deaths: fc.array(
      fc.record({
        afterMs: fc.integer({ min: 5, max: 120 }),
        isFarToo: fc.boolean(),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  });

describe('An agent with several envelopes in hand, whose thread ends (in virtual time)', () => {
  it('loses at most what it had in hand, and does nothing again that was settled, in whatever order', async () => {
    let cutOff = 0;
    let settledAhead = 0;
    await fc.assert(
      fc.asyncProperty(arbPlan(), async ({ seed, delivery, concurrency, jobs, deaths }) => {
        const attempts: Attempt[] = [];
        const ends: number[] = [];
        const relayer = (id: string) =>
          defineAgent({ id, name: id, delivery, ...CARD }).handle(relay, (job, ctx) => {
            ctx.tell(work, job);
            return null;
          });
        const mars = defineAgent({ id: 'mars', name: 'MARS', delivery, concurrency, ...CARD }).handle(
          work,
          async ({ n, ms }, ctx) => {
            const attempt: Attempt = { n, atMs: ctx.now(), endMs: undefined };
            attempts.push(attempt);
            await ctx.sleep(ms);
            attempt.endMs = ctx.now();
            return null;
          },
        );
        const { violations, ending, error, finalState, stats } = await simulate({
          agents: [mars, relayer('far'), relayer('near')],
          seed,
          supervision: { intensity: { maxRestarts: 1_000 }, backOff: { firstMs: 1, maxMs: 1 } },
          run: async (team, { sleep, cause, view, clock }) => {
            expect(view.agents().map(({ id, place }) => `${id} ${place}`)).toEqual(
              expect.arrayContaining(['mars worker-1', 'far worker-2', 'near worker-1']),
            );
            for (const [n, { ms, by }] of jobs.entries()) {
              if (by === 'host') team.tell(work, { n, ms });
              else team.tell({ agent: by, capability: relay }, { n, ms });
            }
            for (const { afterMs, isFarToo } of deaths) {
              await sleep(afterMs);
              ends.push(clock.now());
              cause({ fault: 'crash', place: 'worker-1' });
              if (isFarToo) cause({ fault: 'crash', place: 'worker-2' });
            }
          },
          invariants: [
            (view) => {
              const inHand = view.agent('mars')?.inHand ?? 0;
              return inHand > concurrency ? `mars has ${inHand} in hand` : undefined;
            },
          ],
        });
        expect({ violations, ending, error }).toEqual({ violations: [], ending: 'quiet', error: undefined });
        expect(finalState?.conservation.holds).toBe(true);
        expect(stats.accepted).toBe(stats.handled + stats.rejected + stats.expired + stats.deadLettered);
        let most = 0;
        for (const endMs of ends) {
          const before = attempts.filter(({ atMs }) => atMs <= endMs);
          const lasted = before.filter((one) => {
            // What ended in the moment of an earlier death may not have been committed, and is done again after this one.
            const deathMs = ends.find((atMs) => atMs >= one.atMs) as number;
            return one.endMs !== undefined && one.endMs + SETTLED_MS <= deathMs;
          });
          const again = new Set(attempts.filter(({ atMs }) => atMs > endMs).map(({ n }) => n));
          expect(lasted.filter(({ n }) => again.has(n))).toEqual([]);
          most +=
            concurrency +
            before.filter(
              (one) => one.endMs !== undefined && one.endMs <= endMs && one.endMs + SETTLED_MS > endMs,
            ).length;
          const oldest = Math.min(...before.filter((one) => !lasted.includes(one)).map(({ n }) => n));
          settledAhead += lasted.filter(({ n }) => n > oldest).length;
        }
        const letters = (finalState?.deadLetters ?? []).filter(
          ({ code, recipient }) => code === 'ACTOR_DIED' && recipient === 'mars',
        );
        cutOff += letters.length;
        expect(letters.length).toBeLessThanOrEqual(most);
        if (delivery === 'retry') expect(letters).toEqual([]);
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    // The runs had what this is about.
    expect(cutOff).toBeGreaterThan(RUNS / 4);
    expect(settledAhead).toBeGreaterThan(RUNS);
  }, 120_000);

  it('finds orders of its handlers by the seed, the same for the same seed', async () => {
    const orderOf = async (seed: number): Promise<string> => {
      const ended: number[] = [];
      await simulate({
        agents: [
          defineAgent({ id: 'mars', name: 'MARS', concurrency: 4, ...CARD }).handle(
            work,
            async ({ n }, ctx) => {
              await ctx.sleep(ctx.random() * 10);
              ended.push(n);
              return null;
            },
          ),
        ],
        seed,
        run: (team) => {
          for (let n = 0; n < 8; n++) team.tell(work, { n, ms: 0 });
        },
      });
      return ended.join(' ');
    };
    const orders = new Set<string>();
    for (let seed = 1; seed <= 10; seed++) {
      const order = await orderOf(seed);
      expect(await orderOf(seed)).toBe(order);
      orders.add(order);
    }
    expect(orders.size).toBeGreaterThan(5);
  }, 120_000);
});

describe('What was cancelled, where its thread ends (in virtual time, F-04)', () => {
  it('is not begun on by the next thread, in whatever order that hears of it', async () => {
    let hadNextThread = 0;
    for (let seed = 1; seed <= RUNS; seed++) {
      const begun: number[] = [];
      const { violations, ending, error, finalState } = await simulate({
        agents: [
          defineAgent({ id: 'mars', name: 'MARS', ...CARD }).handle(work, async ({ n, ms }, ctx) => {
            begun.push(n);
            await ctx.sleep(ms);
            return null;
          }),
        ],
        seed,
        supervision: { intensity: { maxRestarts: 1_000 }, backOff: { firstMs: 1, maxMs: 1 } },
        run: async (team, { sleep, cause, view }) => {
          const giveUp = new AbortController();
          const asked = [0, 1, 2].map((n) =>
            team.ask(work, { n, ms: 1_000 }, n === 0 ? {} : { signal: giveUp.signal }),
          );
          const ends = Promise.allSettled(asked);
          while (!begun.includes(0)) await sleep(1);
          giveUp.abort();
          cause({ fault: 'crash', place: 'worker-1' });
          const codes = (await ends).map((end) => end.status === 'rejected' && end.reason.code);
          expect(codes).toEqual(['ACTOR_DIED', 'CANCELLED', 'CANCELLED']);
          await team.ask(work, { n: 3, ms: 0 });
          hadNextThread += view.faults.crash;
        },
      });
      expect({ violations, ending, error }).toEqual({ violations: [], ending: 'quiet', error: undefined });
      expect(finalState?.conservation.holds).toBe(true);
      expect(begun).toEqual([0, 3]);
    }
    expect(hadNextThread).toBe(RUNS);
  });
});
