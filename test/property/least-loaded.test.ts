import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { capability, defineAgent } from '../../index.ts';
import { simulate } from '../../simulate.ts';
import { times } from '../fixtures/effort.ts';

const dig = capability({ id: 'dig', description: 'Digs', input: z.null(), output: z.null() });
const open = capability({ id: 'open', description: 'Opens the site', input: z.null(), output: z.null() });
const about = { name: 'DIGGER', version: '1.0.0', description: 'Digs', tier: 2 } as const;
const DIG_MS = 3_000;

const digger = (id: string) =>
  defineAgent({ id, ...about })
    .handle(dig, async (_input, ctx) => {
      await ctx.sleep(DIG_MS);
      return null;
    })
    .on('notification', async (_envelope, ctx) => ctx.sleep(DIG_MS));

/** Until it has opened there is nothing to dig; by then the team stands, and the diggers have other work. */
const OPENS_AFTER_MS = 1_000;
const opener = defineAgent({ id: 'opener', ...about }).handle(open, async (_input, ctx) => {
  await ctx.sleep(OPENS_AFTER_MS);
  return null;
});

/** Who gets so many sub-tasks, one after the other, when each goes to the least loaded and then to the first. */
function greedy(loads: readonly number[], parts: number): number[] {
  const left = [...loads];
  return Array.from({ length: parts }, () => {
    const best = left.indexOf(Math.min(...left));
    left[best] = (left[best] as number) + 1;
    return best;
  });
}

describe('Sub-tasks in a simulation', () => {
  it('go to the least loaded, whoever has given it what it has, in whatever thread that is (N-8.2)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.array(fc.nat(5), { minLength: 2, maxLength: 5 }),
        fc.integer({ min: 1, max: 6 }),
        async (seed, loads, parts) => {
          let assigned: readonly (string | undefined)[] = [];
          const { violations, error } = await simulate({
            agents: [opener, ...loads.map((_, at) => digger(`digger-${at}`))],
            seed,
            workers: 3,
            keepsTrace: false,
            run: async (team, { sleep }) => {
              const digs = Array.from({ length: parts }, (_, at) => ({
                id: `part-${at}`,
                requiredCapabilities: [dig.id],
                dependsOn: ['opening'],
                input: null,
              }));
              const plan = [{ id: 'opening', requiredCapabilities: [open.id], input: null }, ...digs];
              const { id } = await team.swarms.createSwarm('Dig', [], { plan, maxPerAgent: 10 });
              const partsOf = () => team.swarms.getSwarm(id)?.subTasks ?? [];
              while (partsOf()[0]?.status !== 'running') await sleep(10);
              for (const [at, load] of loads.entries())
                for (let told = 0; told < load; told += 1) team.tell(`digger-${at}`, 'dig');
              while (partsOf()[0]?.status === 'running') await sleep(10);
              assigned = partsOf()
                .slice(1)
                .map(({ assignments }) => assignments[0]?.agentId);
              await team.swarms.cancelSwarm(id, 'enough is known');
            },
          });
          expect({ violations, error }).toEqual({ violations: [], error: undefined });
          const counted = assigned.map(String).toSorted();
          expect(counted).toEqual(
            greedy(loads, parts)
              .map((at) => `digger-${at}`)
              .toSorted(),
          );
        },
      ),
      { numRuns: times(15, 100) },
    );
  }, 120_000);
});
