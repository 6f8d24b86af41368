import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SwarmOutcome } from '../../actors/swarm/swarm-outcome.ts';
import type { SwarmSession } from '../../actors/swarm/swarm-session.ts';
import { times } from '../fixtures/effort.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import {
  type Death,
  keyOf,
  type LastingAgent,
  type LastingDeed,
  LastingWorld,
} from '../unit/actors/swarm/lasting-world.ts';
import { checkOutcome, checkPicture, checkStep } from '../unit/actors/swarm/swarm-checks.ts';

const RUNS = times(125, 500);
const LEASE_MS = 100;
const LIMITS = { recruitMs: 40, leaseMs: LEASE_MS, graceMs: 150 };

const arbMs = (max: number) => fc.integer({ min: 1, max });

const arbDeed = (): fc.Arbitrary<LastingDeed> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ does: fc.constant('answers' as const), afterMs: arbMs(90) }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('answers' as const), afterMs: arbMs(400) }) },
    {
      weight: 2,
      arbitrary: fc.record({ does: fc.constant('plods' as const), everyMs: arbMs(90), times: fc.nat(5) }),
    },
    fc.record({ does: fc.constant('fails' as const), afterMs: arbMs(200) }),
    fc.constant({ does: 'sleeps' as const }),
  );

const arbAgents = (): fc.Arbitrary<LastingAgent[]> =>
  fc
    .array(
      fc.record({
        isKept: fc.boolean(),
        isRetry: fc.boolean(),
        deeds: fc.array(arbDeed(), { minLength: 1, maxLength: 4 }),
      }),
      { minLength: 1, maxLength: 6, size: 'max' },
    )
    .map((agents) => agents.map((agent, at) => ({ id: `agent-${at}`, ...agent })));

/** After so long the coordinator dies, and so long after that the next one comes. */
const arbDeath = () =>
  fc.record({
    afterMs: fc.nat(160),
    downMs: fc.oneof(fc.constant(0), arbMs(40), arbMs(400)),
    death: fc.constantFrom<Death>('process', 'thread'),
    isLastKept: fc.boolean(),
  });

/** Until it is there, `ms` of virtual time at most. */
async function wait<Value>(
  clock: FakeClock,
  read: () => Value | undefined,
  ms: number,
): Promise<Value | undefined> {
  for (const endMs = clock.now() + ms; clock.now() < endMs; ) {
    const value = read();
    if (value !== undefined) return value;
    await clock.advanceAsync(Math.min(clock.nextInMs ?? ms, endMs - clock.now()));
  }
  return read();
}

describe('A swarm whose coordinator dies at any moment (N-8.4, N-8.5, N-8.6, F-02, F-11)', () => {
  it('is done, each result applied once or the owner told; epochs only grow, and no two agents have one', async () => {
    const ends = { completed: 0, failed: 0, deaths: 0, lost: 0, stalled: 0, before: 0 };
    await fc.assert(
      fc.asyncProperty(
        arbAgents(),
        fc.array(fc.nat(12), { minLength: 1, maxLength: 10, size: 'max' }),
        fc.array(arbDeath(), { minLength: 1, maxLength: 6, size: 'max' }),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(8),
        async (agents, afters, deaths, maxPerAgent, commitMs) => {
          const clock = new FakeClock();
          const world = new LastingWorld(clock, agents, commitMs);
          const plan = afters.map((after, at) => ({
            id: `part-${at}`,
            requiredCapabilities: ['x'],
            dependsOn: after < at ? [`part-${after}`] : [],
          }));
          const first = world.start();
          const task = { taskDescription: 'T', requiredCapabilities: ['x'] };
          const { id } = await first.owned.create(first.reach, task, { ...LIMITS, maxPerAgent, plan });
          // Whoever makes a swarm waits until it is kept.
          await wait(clock, () => world.seen.at(0), 100);
          let outcome: SwarmOutcome | undefined;
          const watch = (): void =>
            void world.owned?.outcome(id).then((ended) => {
              outcome = ended;
            });
          for (const { afterMs, downMs, death, isLastKept } of deaths) {
            await clock.advanceAsync(afterMs);
            const keptBefore = world.seen.at(-1) as SwarmSession;
            world.die(death, isLastKept);
            await clock.advanceAsync(downMs);
            world.start();
            ends.deaths += 1;
            ends.before += Number(keptBefore.subTasks.some(({ status }) => status === 'completed'));
          }
          watch();
          const ended = await wait(clock, () => outcome, 60_000);
          if (ended === undefined) throw new Error('The swarm did not end');
          await clock.advanceAsync(1_000);
          checkOutcome(ended);
          for (const [at, picture] of world.seen.entries()) {
            checkPicture(picture);
            if (at > 0) checkStep(world.seen[at - 1] as SwarmSession, picture);
          }
          // Under one epoch a sub-task is with one agent, which begins on it once, or again as it has been asked to.
          const holders = new Map<string, string>();
          for (const { key, agentId, isRetry } of world.begun) {
            expect(isRetry ? agentId : undefined).toBe(holders.get(key));
            holders.set(key, agentId);
          }
          // What counts was done by whoever had it, under the epoch that stands.
          for (const { id: subTaskId, status, assignments } of ended.subTasks) {
            const last = assignments.at(-1);
            if (status === 'completed' && last !== undefined)
              expect(holders.get(keyOf({ subTaskId, epoch: last.epoch }))).toBe(last.agentId);
          }
          ends[ended.status] += 1;
          const tried = ended.subTasks.flatMap(({ assignments }) => assignments);
          ends.lost += tried.filter(({ end }) => end === 'lost').length;
          ends.stalled += tried.filter(({ end }) => end === 'stalled').length;
        },
      ),
      { numRuns: RUNS },
    );
    // The schedules have brought about what they are for.
    for (const [what, count] of Object.entries(ends)) expect(count, what).toBeGreaterThan(RUNS / 100);
  }, 120_000);
});
