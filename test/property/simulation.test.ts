import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { capability, defineAgent, refused } from '../../index.ts';
import { type SimulateOptions, simulate } from '../../simulate.ts';
import { times } from '../fixtures/effort.ts';
import { ALL_FAULTS, busyTeam, idsOf, pass, passingAgents } from '../fixtures/simulated-team.ts';

const RUNS = times(30, 100);
const seeds = fc.integer({ min: 1, max: 1_000_000 });
const CARD = { version: '1.0.0', description: 'Works', tier: 2 } as const;
const work = capability({ id: 'test.work', description: 'Works', input: z.int(), output: z.int() });

describe('simulate (F-03)', () => {
  it('keeps every promise of the runtime under all faults', async () => {
    const seen = { crash: 0, freeze: 0, slow: 0, delay: 0, partition: 0, handler: 0 };
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const { violations, ending, error, finalState, stats } = await simulate(busyTeam(seed));
        expect({ violations, ending, error }).toEqual({ violations: [], ending: 'quiet', error: undefined });
        expect(finalState?.conservation.holds).toBe(true);
        expect(stats.accepted).toBe(stats.handled + stats.rejected + stats.expired + stats.deadLettered);
        for (const kind of Object.keys(seen) as (keyof typeof seen)[]) seen[kind] += stats.faults[kind];
      }),
      { numRuns: RUNS },
    );
    for (const [kind, count] of Object.entries(seen)) expect(count, kind).toBeGreaterThan(times(1, 20));
  }, 120_000);

  it('gives the same trace for the same seed, and another for another', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const [one, again, other] = [
          await simulate(busyTeam(seed, ALL_FAULTS, 2)),
          await simulate(busyTeam(seed, ALL_FAULTS, 2)),
          await simulate(busyTeam(seed + 1, ALL_FAULTS, 2)),
        ];
        expect(again.traceHash).toBe(one.traceHash);
        expect(again.trace()).toBe(one.trace());
        expect(again.value).toEqual(one.value);
        expect(other.traceHash).not.toBe(one.traceHash);
      }),
      { numRuns: RUNS },
    );
  }, 120_000);

  it('loses nothing and repeats nothing without faults, whatever the seed', async () => {
    const ids = idsOf(5);
    await fc.assert(
      fc.asyncProperty(seeds, fc.integer({ min: 1, max: 60 }), async (seed, count) => {
        const { stats, violations } = await simulate({
          agents: passingAgents(ids.length),
          seed,
          run: (team) => {
            for (let n = 0; n < count; n++)
              team.tell({ agent: ids[n % 5] as string, capability: pass }, { left: 0 });
          },
        });
        expect(violations).toEqual([]);
        expect(stats).toMatchObject({ accepted: count, handled: count, begun: count });
      }),
      { numRuns: RUNS },
    );
  }, 120_000);

  it('gives a handler that fails after its work its envelope again, and only where it may be', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, fc.constantFrom('once' as const, 'retry' as const), async (seed, delivery) => {
        let done = 0;
        const { stats, value } = await simulate({
          agents: [
            defineAgent({ id: 'mars', name: 'MARS', delivery, ...CARD }).handle(work, (n) => {
              done += 1;
              return n;
            }),
          ],
          seed,
          faults: { handler: { probability: 1, most: 1 } },
          run: (team) => team.ask(work, 5).catch((error) => error.code),
        });
        expect(stats.faults.handler).toBe(1);
        expect(value).toBe(delivery === 'once' ? 'HANDLER_FAILED' : 5);
        expect(done).toBeLessThanOrEqual(delivery === 'once' ? 1 : 2);
      }),
      { numRuns: RUNS },
    );
  }, 60_000);

  it('finds under some seed what an invariant of the user forbids', async () => {
    // Two that take from the same stock look first and take later.
    const team = (seed: number): SimulateOptions => {
      let stock = 1;
      const taker = (id: string) =>
        defineAgent({ id, name: id, ...CARD }).handle(work, async (_, ctx) => {
          if (stock === 0) throw refused('it is gone');
          await ctx.sleep(ctx.random() < 0.9 ? 0 : 20);
          stock -= 1;
          return stock;
        });
      return {
        agents: [taker('io'), taker('triton')],
        seed,
        invariants: [() => (stock < 0 ? `The stock is ${stock}` : undefined)],
        run: async (running, { sleep }) => {
          const first = running.ask({ agent: 'io', capability: work }, 1).catch(() => undefined);
          await sleep(10);
          await running.ask({ agent: 'triton', capability: work }, 1).catch(() => undefined);
          await first;
        },
      };
    };
    const violating: number[] = [];
    for (let seed = 1; seed <= 60; seed++) {
      const { violations } = await simulate(team(seed));
      if (violations.length === 0) continue;
      expect(violations).toEqual(['The stock is -1']);
      violating.push(seed);
    }
    expect(violating.length).toBeGreaterThan(0);
    expect(violating.length).toBeLessThan(60);
  }, 60_000);
});
