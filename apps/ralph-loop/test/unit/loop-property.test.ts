import fc from 'fast-check';
import { OrreryError } from 'orrery';
import { expect, it } from 'vitest';
import { runMission } from '../../loop/run-mission.ts';
import { parseMission } from '../../mission/read-mission.ts';
import { FakeClock } from '../../../../test/fixtures/fake-clock.ts';
import { FakeTeam } from './fake-team.ts';

/** A mission whose tasks depend only on earlier ones, so that it has no cycle; then put into any order. */
const dag = fc
  .array(
    fc.record({ dependsOn: fc.array(fc.nat(), { maxLength: 4 }), priority: fc.integer({ min: 1, max: 5 }) }),
    {
      minLength: 1,
      maxLength: 25,
      size: 'max',
    },
  )
  .map((drafts) =>
    drafts.map(({ dependsOn, priority }, index) => ({
      id: `t${index}`,
      title: `Task ${index}`,
      capability: 'work',
      input: { name: `t${index}` },
      priority,
      dependsOn: index === 0 ? [] : [...new Set(dependsOn.map((pick) => `t${pick % index}`))],
    })),
  )
  .chain((tasks) => fc.shuffledSubarray(tasks, { minLength: tasks.length, maxLength: tasks.length }));

const missionOf = (tasks: unknown, limits: Record<string, number>) =>
  parseMission(JSON.stringify({ version: 1, name: 'm', limits, tasks }), 'test');

it('any mission without a cycle finishes with each task run once, in dependency order, within maxParallel', async () => {
  await fc.assert(
    fc.asyncProperty(
      dag,
      fc.integer({ min: 1, max: 6 }),
      fc.scheduler(),
      async (tasks, maxParallel, scheduler) => {
        const done = new Set<string>();
        const started: string[] = [];
        let inHand = 0;
        const team = new FakeTeam().agent('mars', {
          work: async ({ name }) => {
            const task = tasks.find(({ id }) => id === name);
            expect(task?.dependsOn.every((id) => done.has(id))).toBe(true);
            started.push(String(name));
            inHand += 1;
            expect(inHand).toBeLessThanOrEqual(maxParallel);
            await scheduler.schedule(Promise.resolve(), String(name));
            inHand -= 1;
            done.add(String(name));
            return {};
          },
        });
        const outcome = runMission(
          missionOf(tasks, { maxAttempts: 1, maxParallel }),
          { root: '/' },
          { team, clock: new FakeClock() },
        );
        await scheduler.waitFor(outcome);
        expect((await outcome).stopReason).toBe('all-accepted');
        expect(started.sort()).toEqual(tasks.map(({ id }) => id).sort());
      },
    ),
    { numRuns: 200 },
  );
});

it('whoever dies how often, every task comes to an end, and none is tried more often than allowed', async () => {
  await fc.assert(
    fc.asyncProperty(
      dag,
      fc.integer({ min: 1, max: 3 }),
      fc.infiniteStream(fc.boolean()),
      async (tasks, maxAttempts, deaths) => {
        const tries = new Map<string, number>();
        const team = new FakeTeam().agent('mars', {
          work: ({ name }) => {
            tries.set(String(name), (tries.get(String(name)) ?? 0) + 1);
            if (deaths.next().value) throw new OrreryError('ACTOR_DIED', 'planted');
            return {};
          },
        });
        const outcome = await runMission(
          missionOf(tasks, { maxAttempts }),
          { root: '/' },
          { team, clock: new FakeClock() },
        );
        expect(Math.max(0, ...tries.values())).toBeLessThanOrEqual(maxAttempts);
        for (const { status, context } of outcome.tasks) {
          expect(['accepted', 'exhausted', 'blocked']).toContain(status);
          expect(context.attempts).toHaveLength(tries.get(context.item.id) ?? 0);
        }
        expect(outcome.stopReason).toBe(
          outcome.tasks.every(({ status }) => status === 'accepted') ? 'all-accepted' : 'attempts-exhausted',
        );
      },
    ),
    { numRuns: 200 },
  );
});
