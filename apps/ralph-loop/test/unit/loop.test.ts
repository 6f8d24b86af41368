import { describe, expect, it } from 'vitest';
import { FakeTeam } from './fake-team.ts';
import { missionOf, run, start } from './loop-of-fakes.ts';

describe('order', () => {
  it('starts a task only when those it depends on are accepted', async () => {
    const team = new FakeTeam().agent('mars', {
      work: ({ name }) => ({ notes: [{ kind: 'did', reason: String(name) }] }),
    });
    const outcome = await run(
      team,
      missionOf([
        { id: 'c', capability: 'work', input: { name: 'c' }, dependsOn: ['a', 'b'] },
        { id: 'b', capability: 'work', input: { name: 'b' }, dependsOn: ['a'] },
        { id: 'a', capability: 'work', input: { name: 'a' } },
      ]),
    );
    expect(outcome.stopReason).toBe('all-accepted');
    expect(team.work.map(({ input }) => input['name'])).toEqual(['a', 'b', 'c']);
  });

  it('gives out the lowest priority number first and tasks without one last', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) });
    await run(
      team,
      missionOf(
        [
          { id: 'late', capability: 'work' },
          { id: 'third', capability: 'work', priority: 3 },
          { id: 'first', capability: 'work', priority: 1 },
        ],
        { maxAttempts: 1, maxParallel: 1 },
      ),
    );
    expect(team.work.map(({ options }) => options.correlationId)).toEqual([
      'test/first',
      'test/third',
      'test/late',
    ]);
  });

  it('works on independent tasks at the same time, at most maxParallel', async () => {
    let inHand = 0;
    let most = 0;
    const gate = Promise.withResolvers<void>();
    const team = new FakeTeam().agent('mars', {
      work: async () => {
        inHand += 1;
        most = Math.max(most, inHand);
        if (inHand === 3) gate.resolve();
        await gate.promise;
        inHand -= 1;
        return {};
      },
    });
    const tasks = Array.from({ length: 9 }, (_, index) => ({ id: `t${index}`, capability: 'work' }));
    const outcome = await run(team, missionOf(tasks, { maxAttempts: 1, maxParallel: 3 }));
    expect(most).toBe(3);
    const asked = team.asked
      .filter(({ agent }) => agent === 'sun')
      .flatMap(({ input }) => input['tasks'] as unknown[]);
    expect(asked).toHaveLength(9);
    expect(outcome.stopReason).toBe('all-accepted');
  });

  it('has every one of several required capabilities worked on, in one thread, before the task counts', async () => {
    const team = new FakeTeam()
      .agent('mars', { one: () => ({}) })
      .agent('venus', { two: () => ({}), after: () => ({}) });
    const outcome = await run(
      team,
      missionOf([
        { id: 'both', requiredCapabilities: ['one', 'two'] },
        { id: 'then', capability: 'after', dependsOn: ['both'] },
      ]),
    );
    expect(outcome.tasks.map(({ context }) => context.item.id)).toEqual(['both/one', 'both/two', 'then']);
    expect(team.work.map(({ agent }) => agent)).toEqual(['mars', 'venus', 'venus']);
    expect(team.work.slice(0, 2).map(({ options }) => options.correlationId)).toEqual([
      'test/both',
      'test/both',
    ]);
  });
});

describe('telling', () => {
  it('says why it goes on and how each task moves', async () => {
    const team = new FakeTeam().agent('mars', {
      work: (_, { onProgress }) => {
        onProgress?.({ fraction: 0.5, note: 'half' });
        return {};
      },
    });
    const { events, outcome } = start(
      team,
      missionOf([
        { id: 'a', capability: 'work' },
        { id: 'b', capability: 'work', dependsOn: ['a'] },
      ]),
    );
    await outcome;
    const told = events.map((event) =>
      event.type === 'task.changed'
        ? `${event.task} ${event.status}`
        : 'why' in event
          ? event.why
          : event.type,
    );
    expect(told).toEqual([
      'mission.started',
      'a ready',
      'assignment.asked',
      'a is to be given out; b waits for a',
      'a proposed',
      'mars is asked to take a on; b waits for a',
      'a working',
      'mars works on a; b waits for a',
      'task.progress',
      'a judging',
      'mercury judges a; b waits for a',
      'a accepted',
      'b ready',
      'assignment.asked',
      'b is to be given out',
      'b proposed',
      'mars is asked to take b on',
      'b working',
      'mars works on b',
      'task.progress',
      'b judging',
      'mercury judges b',
      'b accepted',
      'mission.ended',
    ]);
  });
});
