import { OrreryError, refused } from 'orrery';
import { describe, expect, it } from 'vitest';
import type { LoopEvent } from '../../loop/loop-event.ts';
import { runMission } from '../../loop/run-mission.ts';
import { parseMission } from '../../mission/read-mission.ts';
import { FakeClock } from '../../../../test/fixtures/fake-clock.ts';
import { FakeTeam, finding } from './fake-team.ts';

type Tasks = readonly Record<string, unknown>[];

const missionOf = (tasks: Tasks, limits: Record<string, number> = { maxAttempts: 2 }) =>
  parseMission(
    JSON.stringify({
      version: 1,
      name: 'test',
      limits,
      tasks: tasks.map((task) => ({ title: 'T', ...task })),
    }),
    'test',
  );

const start = (team: FakeTeam, mission: ReturnType<typeof missionOf>, signal?: AbortSignal) => {
  const clock = new FakeClock();
  const events: LoopEvent[] = [];
  const waiting: { test: (event: LoopEvent) => boolean; found: () => void }[] = [];
  const onEvent = (event: LoopEvent) => {
    events.push(event);
    for (const { test, found } of waiting) if (test(event)) found();
  };
  const seen = (test: (event: LoopEvent) => boolean) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (events.some(test)) resolve();
    else waiting.push({ test, found: resolve });
    return promise;
  };
  const outcome = runMission(
    mission,
    { root: '/repo', onEvent, ...(signal === undefined ? {} : { signal }) },
    { team, clock },
  );
  return { clock, events, seen, outcome };
};

const run = (team: FakeTeam, mission: ReturnType<typeof missionOf>) => start(team, mission).outcome;

const working = (task: string) => (event: LoopEvent) =>
  event.type === 'task.changed' && event.task === task && event.status === 'working';

const never = () => new Promise<never>(() => undefined);
const verdict = (over: Record<string, unknown>) => ({
  verdict: 'APPROVED',
  approved: [],
  rejected: [],
  feedback: '',
  ...over,
});

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

describe('the gate', () => {
  it('sends a result back once, with feedback, on the same thread to the same agent', async () => {
    const judged: unknown[] = [];
    const team = new FakeTeam()
      .agent('mars', {
        work: ({ feedback }) => ({
          findings: feedback === undefined ? [finding(), finding({ id: 'f2' })] : [finding()],
        }),
      })
      .agent('mercury', {
        'findings.verify': ({ findings }) => {
          judged.push(findings);
          if (judged.length > 1) return verdict({ approved: findings });
          return verdict({
            verdict: 'NEEDS REVISION',
            approved: [finding()],
            rejected: [{ finding: finding({ id: 'f2' }), reason: 'no such line' }],
            feedback: 'f2 is not there',
          });
        },
      });
    const outcome = await run(team, missionOf([{ id: 'a', capability: 'work' }]));
    expect(outcome.stopReason).toBe('all-accepted');
    expect(team.work.map(({ input, options }) => [input['feedback'], options.correlationId])).toEqual([
      [undefined, 'test/a'],
      ['f2 is not there', 'test/a'],
    ]);
    const task = outcome.tasks[0]?.context;
    expect(task?.findings.map(({ id }) => id)).toEqual(['f1']);
    expect(task?.refused.map(({ finding: { id }, reason }) => [id, reason])).toEqual([
      ['f2', 'no such line'],
    ]);
    expect(task?.attempts.map(({ ended }) => ended)).toEqual(['refused', 'accepted']);
  });

  it('fails a task that it refuses twice, with the reason, and keeps refused findings out', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({ findings: [finding()] }) }).agent('mercury', {
      'findings.verify': () =>
        verdict({
          verdict: 'REJECTED',
          rejected: [{ finding: finding(), reason: 'made up' }],
          feedback: 'nothing is true',
        }),
    });
    const outcome = await run(team, missionOf([{ id: 'a', capability: 'work' }], { maxAttempts: 5 }));
    expect(outcome.stopReason).toBe('task-failed');
    expect(team.work).toHaveLength(2);
    expect(outcome.tasks[0]).toMatchObject({
      status: 'failed',
      context: { findings: [], why: 'the gate says REJECTED: nothing is true' },
    });
    expect(outcome.tasks[0]?.context.refused).toHaveLength(2);
  });

  it('treats an answer that is no task result like a refusal', async () => {
    const team = new FakeTeam().agent('mars', {
      work: ({ feedback }) => (feedback === undefined ? { findings: 7 } : {}),
    });
    const outcome = await run(team, missionOf([{ id: 'a', capability: 'work' }]));
    expect(outcome.stopReason).toBe('all-accepted');
    expect(team.work[1]?.input['feedback']).toContain('findings');
  });

  it('is asked again when it dies, without the work being done again', async () => {
    let deaths = 0;
    const team = new FakeTeam().agent('mars', { work: () => ({}) }).agent('mercury', {
      'findings.verify': () => {
        if (deaths++ === 0) throw new OrreryError('ACTOR_DIED', 'mercury: boom');
        return verdict({});
      },
    });
    const outcome = await run(team, missionOf([{ id: 'a', capability: 'work' }]));
    expect(outcome.stopReason).toBe('all-accepted');
    expect(team.work).toHaveLength(1);
  });

  it('blocks what it cannot judge', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) }).agent('mercury', {
      'findings.verify': () => {
        throw new OrreryError('ACTOR_DIED', 'mercury: boom');
      },
    });
    const outcome = await run(team, missionOf([{ id: 'a', capability: 'work' }]));
    expect(outcome).toMatchObject({ stopReason: 'task-blocked', tasks: [{ status: 'blocked' }] });
  });
});

describe('deaths and refusals', () => {
  it('begins a task again after a death, and has it assigned anew', async () => {
    let deaths = 0;
    const team = new FakeTeam().agent('mars', {
      work: () => {
        if (deaths++ === 0) throw new OrreryError('THREAD_DIED', 'worker-1');
        return {};
      },
    });
    const outcome = await run(team, missionOf([{ id: 'a', capability: 'work' }]));
    expect(outcome.stopReason).toBe('all-accepted');
    expect(team.asked.filter(({ agent }) => agent === 'sun')).toHaveLength(2);
    expect(outcome.tasks[0]?.context.attempts).toMatchObject([
      { ended: 'lost', code: 'THREAD_DIED' },
      { ended: 'accepted' },
    ]);
  });

  it('stops after the last allowed attempt, and blocks what depends on it', async () => {
    const team = new FakeTeam().agent('mars', {
      work: () => {
        throw new OrreryError('ACTOR_DIED', 'mars: boom');
      },
      other: () => ({}),
    });
    const outcome = await run(
      team,
      missionOf([
        { id: 'a', capability: 'work' },
        { id: 'b', capability: 'other', dependsOn: ['a'] },
        { id: 'c', capability: 'other' },
      ]),
    );
    expect(outcome.stopReason).toBe('attempts-exhausted');
    expect(outcome.tasks.map(({ status }) => status)).toEqual(['exhausted', 'blocked', 'accepted']);
    expect(outcome.tasks[1]?.context.why).toBe('a, which it depends on, came to exhausted');
  });

  it('does not ask again what was refused for good', async () => {
    const team = new FakeTeam().agent('mars', {
      work: () => {
        throw refused('the folder does not exist');
      },
    });
    const outcome = await run(team, missionOf([{ id: 'a', capability: 'work' }], { maxAttempts: 9 }));
    expect(outcome.stopReason).toBe('task-failed');
    expect(team.work).toHaveLength(1);
    expect(outcome.tasks[0]?.context.why).toContain('the folder does not exist');
  });

  it('escalates what nobody alive can do', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) }).agent('sun', {
      'mission.assign': () => ({
        assignments: [],
        unassignable: [{ taskId: 'a', reason: 'mars has failed' }],
      }),
    });
    const outcome = await run(team, missionOf([{ id: 'a', capability: 'work' }]));
    expect(outcome).toMatchObject({
      stopReason: 'human-needed',
      tasks: [{ status: 'escalated', context: { why: 'mars has failed' } }],
    });
  });

  it('does not follow an assigner that names somebody who cannot do it', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) }).agent('sun', {
      'mission.assign': () => ({ assignments: [{ taskId: 'a', agent: 'mercury' }], unassignable: [] }),
    });
    const outcome = await run(team, missionOf([{ id: 'a', capability: 'work' }]));
    expect(outcome.tasks[0]?.context.why).toBe('sun named mercury, who does not offer work now');
  });

  it('blocks what nobody assigns', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) }).agent('sun', {
      'mission.assign': () => {
        throw new OrreryError('ACTOR_DIED', 'sun: boom');
      },
    });
    expect((await run(team, missionOf([{ id: 'a', capability: 'work' }]))).stopReason).toBe('task-blocked');
  });
});

describe('limits and stopping', () => {
  it('stops when its time is over, and says what was left', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}), slow: never });
    const { clock, seen, outcome } = start(
      team,
      missionOf(
        [
          { id: 'a', capability: 'work' },
          { id: 'b', capability: 'slow' },
          { id: 'c', capability: 'work', dependsOn: ['b'] },
        ],
        { timeoutMs: 5_000 },
      ),
    );
    await seen(working('b'));
    await seen((event) => event.type === 'task.changed' && event.task === 'a' && event.status === 'accepted');
    clock.advance(5_000);
    const { stopReason, tasks, startedAtMs, endedAtMs } = await outcome;
    expect(stopReason).toBe('time-limit');
    expect(tasks.map(({ status }) => status)).toEqual(['accepted', 'cancelled', 'cancelled']);
    expect(tasks[1]?.context.attempts).toMatchObject([{ ended: 'cancelled', durationMs: 5_000 }]);
    expect(endedAtMs - startedAtMs).toBe(5_000);
    expect(team.work.find(({ capability }) => capability === 'slow')?.options.signal?.aborted).toBe(true);
  });

  it('gives an ask no more time than the mission has left', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) });
    await run(team, missionOf([{ id: 'a', capability: 'work' }], { timeoutMs: 5_000 }));
    expect(team.work[0]?.options.timeoutMs).toBeLessThanOrEqual(5_250);
  });

  it('ends at once when it is stopped, and cancels what was asked', async () => {
    const stop = new AbortController();
    const team = new FakeTeam().agent('mars', { slow: never });
    const { seen, outcome } = start(team, missionOf([{ id: 'a', capability: 'slow' }]), stop.signal);
    await seen(working('a'));
    stop.abort();
    expect(await outcome).toMatchObject({ stopReason: 'interrupted', tasks: [{ status: 'cancelled' }] });
    expect(team.work[0]?.options.signal?.aborted).toBe(true);
  });

  it('asks nobody when it was stopped before it began', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) });
    const { outcome } = start(team, missionOf([{ id: 'a', capability: 'work' }]), AbortSignal.abort());
    expect((await outcome).stopReason).toBe('interrupted');
    expect(team.asked).toEqual([]);
  });

  it('counts a success on the last allowed attempt as success', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) });
    const { clock, outcome } = start(
      team,
      missionOf([{ id: 'a', capability: 'work' }], { maxAttempts: 1, timeoutMs: 1_000 }),
    );
    expect((await outcome).stopReason).toBe('all-accepted');
    expect(clock.pending).toBe(0);
  });

  it('asks nobody when a capability is missing', async () => {
    const team = new FakeTeam().agent('mars', { 'types.check': () => ({}) });
    await expect(run(team, missionOf([{ id: 'a', capability: 'types.chek' }]))).rejects.toThrow(
      'tasks[0].capability: nobody in the team offers "types.chek"; did you mean "types.check"?',
    );
    expect(team.asked).toEqual([]);
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
      'a working',
      'mars works on a; b waits for a',
      'task.progress',
      'a judging',
      'mercury judges a; b waits for a',
      'a accepted',
      'b ready',
      'assignment.asked',
      'b is to be given out',
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
