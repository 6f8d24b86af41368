import { OrreryError, refused } from 'orrery';
import { describe, expect, it } from 'vitest';
import { RecoveryRequest } from '../../audit/capabilities.ts';
import { recoverTask } from '../../audit/recover.ts';
import type { LoopEvent } from '../../loop/loop-event.ts';
import type { MissionProgress } from '../../loop/mission-progress.ts';
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

const start = (
  team: FakeTeam,
  mission: ReturnType<typeof missionOf>,
  signal?: AbortSignal,
  progress?: MissionProgress,
) => {
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
    { team, clock, ...(progress === undefined ? {} : { progress }) },
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
      tasks: [{ status: 'escalated', context: { why: 'sun: mars has failed' } }],
    });
  });

  it('does not follow an assigner that names somebody who cannot do it', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) }).agent('sun', {
      'mission.assign': () => ({ assignments: [{ taskId: 'a', agent: 'mercury' }], unassignable: [] }),
    });
    const outcome = await run(team, missionOf([{ id: 'a', capability: 'work' }]));
    expect(outcome.tasks[0]?.context.why).toBe('sun: sun named mercury, who does not offer work now');
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

describe('proposals (N-8.5, N-7.3)', () => {
  const busy = (reason: string) => () => ({ status: 'rejected', rejectionReason: reason }) as const;

  it('hands a task to whoever takes it on, in its thread, and says when it is done', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) });
    const outcome = await run(team, missionOf([{ id: 'a', capability: 'work' }]));
    expect(outcome.stopReason).toBe('all-accepted');
    expect(team.proposed).toEqual(['mars test/a']);
    expect(team.released).toEqual(['p1']);
  });

  it('asks the next one when one declines, and never the same again', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) }).agent('venus', { work: () => ({}) });
    team.refusals.set('mars', busy('BUSY'));
    const outcome = await run(team, missionOf([{ id: 'a', capability: 'work' }]));
    expect(outcome.stopReason).toBe('all-accepted');
    expect(team.proposed).toEqual(['mars test/a', 'venus test/a']);
    expect(team.work.map(({ agent }) => agent)).toEqual(['venus']);
    expect(outcome.tasks[0]?.context.declined).toEqual([{ agent: 'mars', reason: 'BUSY' }]);
  });

  it('asks whoever took it on, if that is another one than was assigned', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) }).agent('venus', { work: () => ({}) });
    team.refusals.set('mars', () => ({ status: 'accepted', acceptedBy: 'venus' }));
    const { tasks } = await run(team, missionOf([{ id: 'a', capability: 'work' }]));
    expect(tasks[0]?.context.attempts).toMatchObject([{ agent: 'venus', ended: 'accepted' }]);
    expect(team.work.map(({ agent }) => agent)).toEqual(['venus']);
  });

  it('takes to SUN what everybody declined, once, and then to a human, with what was tried', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) });
    team.agent('sun', {
      'mission.recover': (input) => recoverTask(RecoveryRequest.parse(input)),
    });
    team.refusals.set('mars', busy('BUSY'));
    const outcome = await run(team, missionOf([{ id: 'a', capability: 'work' }]));
    expect(outcome.stopReason).toBe('human-needed');
    expect(team.proposed).toEqual(['mars test/a', 'mars test/a']);
    expect(outcome.tasks[0]?.context.why).toMatch(/tried mars: BUSY; a human must decide$/);
    expect(team.work).toEqual([]);
    expect(team.released).toEqual([]);
  });

  it('goes on with whoever is free when SUN has them asked again', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) });
    team.agent('sun', { 'mission.recover': (input) => recoverTask(RecoveryRequest.parse(input)) });
    const answers = [busy('BUSY')(), undefined];
    team.refusals.set('mars', () => answers.shift());
    expect((await run(team, missionOf([{ id: 'a', capability: 'work' }]))).stopReason).toBe('all-accepted');
  });

  it('proposes again after a death, and gives the first assignment up', async () => {
    const deaths = [true, false];
    const team = new FakeTeam().agent('mars', {
      work: () => {
        if (deaths.shift()) throw new OrreryError('ACTOR_DIED', 'planted');
        return {};
      },
    });
    expect((await run(team, missionOf([{ id: 'a', capability: 'work' }]))).stopReason).toBe('all-accepted');
    expect(team.proposed).toEqual(['mars test/a', 'mars test/a']);
    expect(team.released).toEqual(['p1', 'p2']);
  });

  it('is cut off while it is still being proposed', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) });
    team.negotiator.propose = (_, { signal } = {}) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const stop = new AbortController();
    const { seen, outcome } = start(team, missionOf([{ id: 'a', capability: 'work' }]), stop.signal);
    await seen((event) => event.type === 'task.changed' && event.status === 'proposed');
    stop.abort();
    expect(await outcome).toMatchObject({
      stopReason: 'interrupted',
      tasks: [{ status: 'cancelled', context: { attempts: [] } }],
    });
  });
});

describe('swarms (N-8.1, N-8.6)', () => {
  const both = [{ id: 'both', requiredCapabilities: ['one', 'two'] }];

  it('hand a task that needs several capabilities to those who have them, without SUN', async () => {
    const team = new FakeTeam().agent('mars', { one: () => ({}) }).agent('venus', { two: () => ({}) });
    const { tasks, stopReason } = await run(team, missionOf(both));
    expect(stopReason).toBe('all-accepted');
    expect(team.swarms.formed).toEqual(['T: one, two']);
    expect(team.proposed).toEqual([]);
    expect(team.asked.filter(({ agent }) => agent === 'sun')).toEqual([]);
    expect(tasks.map(({ context }) => context.swarm)).toMatchObject([
      {
        id: 'swarm-1',
        assignments: [{ agent: 'mars', epoch: 1, envelopeId: 'e-both/one-1', end: 'completed' }],
      },
      { id: 'swarm-1', assignments: [{ agent: 'venus', end: 'completed' }] },
    ]);
    expect(tasks.map(({ context }) => context.attempts[0])).toMatchObject([
      { agent: 'mars', place: 'worker-1', ended: 'accepted' },
      { agent: 'venus', place: 'worker-1', ended: 'accepted' },
    ]);
  });

  it('say who replaced whom', async () => {
    const dies = () => {
      throw new OrreryError('ACTOR_DIED', 'planted');
    };
    const team = new FakeTeam()
      .agent('mars', { one: dies })
      .agent('pluto', { one: () => ({}) })
      .agent('venus', { two: () => ({}) });
    const { tasks, stopReason } = await run(team, missionOf(both));
    expect(stopReason).toBe('all-accepted');
    expect(tasks[0]?.context.swarm?.assignments.map(({ agent, end }) => `${agent} ${end}`)).toEqual([
      'mars failed',
      'pluto completed',
    ]);
    expect(tasks[0]?.context.attempts).toMatchObject([{ agent: 'pluto', ended: 'accepted' }]);
  });

  it('give back what they could not do: it is proposed to a single agent', async () => {
    const deaths = [true, false];
    const team = new FakeTeam().agent('venus', { two: () => ({}) }).agent('mars', {
      one: () => {
        if (deaths.shift()) throw new OrreryError('ACTOR_DIED', 'planted');
        return {};
      },
    });
    const { tasks, stopReason } = await run(team, missionOf(both));
    expect(stopReason).toBe('all-accepted');
    expect(team.proposed).toEqual(['mars test/both']);
    expect(tasks[0]?.context.attempts.map(({ ended }) => ended)).toEqual(['lost', 'accepted']);
  });

  it('send back to its agent alone what the gate refuses', async () => {
    const wrong = [finding()];
    const answers = [{ findings: wrong }, {}];
    const team = new FakeTeam()
      .agent('venus', { two: () => ({}) })
      .agent('mars', { one: () => answers.shift() });
    team.agent('mercury', {
      'findings.verify': ({ findings }) =>
        (findings as unknown[]).length === 0
          ? verdict({})
          : verdict({
              verdict: 'REJECTED',
              feedback: 'no such line',
              rejected: [{ finding: wrong[0], reason: 'no' }],
            }),
    });
    const { stopReason } = await run(team, missionOf(both));
    expect(stopReason).toBe('all-accepted');
    expect(team.work.map(({ agent, input }) => `${agent} ${input['feedback'] ?? ''}`.trim()).sort()).toEqual([
      'mars',
      'mars no such line',
      'venus',
    ]);
  });

  it('leave a task to single agents when none can be formed', async () => {
    const team = new FakeTeam().agent('mars', { one: () => ({}) }).agent('venus', { two: () => ({}) });
    team.agent('sun', { 'mission.recover': (input) => recoverTask(RecoveryRequest.parse(input)) });
    team.swarms.fault = new OrreryError('SYSTEM_STOPPED', 'planted');
    expect((await run(team, missionOf(both))).stopReason).toBe('all-accepted');
    expect([...team.proposed].sort()).toEqual(['mars test/both', 'venus test/both']);
  });

  it('count as one task towards maxParallel', async () => {
    const team = new FakeTeam().agent('mars', { one: () => ({}), two: () => ({}), three: () => ({}) });
    const { stopReason } = await run(
      team,
      missionOf(
        [
          { id: 'all', requiredCapabilities: ['one', 'two', 'three'] },
          { id: 'solo', capability: 'one' },
        ],
        {
          maxAttempts: 1,
          maxParallel: 1,
        },
      ),
    );
    expect(stopReason).toBe('all-accepted');
    expect(team.swarms.formed).toEqual(['T: one, two, three']);
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

describe('progress that is kept', () => {
  const two = missionOf([
    { id: 'a', capability: 'work' },
    { id: 'b', capability: 'work', dependsOn: ['a'] },
  ]);
  const told = (events: readonly LoopEvent[], task: string) =>
    events.flatMap((event) => (event.type === 'task.changed' && event.task === task ? [event.status] : []));

  it('says that a task is accepted, and builds on it, when that outlives the process', async () => {
    const asked = Promise.withResolvers<void>();
    const kept = Promise.withResolvers<void>();
    const accept = (id: string) => {
      if (id !== 'a') return Promise.resolve();
      asked.resolve();
      return kept.promise;
    };
    const { events, outcome } = start(new FakeTeam().agent('mars', { work: () => ({}) }), two, undefined, {
      runId: 'r1',
      accepted: new Map(),
      accept,
    });
    await asked.promise;
    for (let turn = 0; turn < 100; turn++) await Promise.resolve();
    expect([told(events, 'a').at(-1), told(events, 'b')]).toEqual(['judging', []]);
    kept.resolve();
    expect((await outcome).stopReason).toBe('all-accepted');
    expect(told(events, 'a').at(-1)).toBe('accepted');
  });

  it('goes on, and says so, when it cannot be kept', async () => {
    const accept = () => Promise.reject(new Error('no room'));
    const { events, outcome } = start(new FakeTeam().agent('mars', { work: () => ({}) }), two, undefined, {
      runId: 'r1',
      accepted: new Map(),
      accept,
    });
    expect((await outcome).stopReason).toBe('all-accepted');
    expect(events.filter(({ type }) => type === 'progress.lost')).toHaveLength(2);
  });

  const both = missionOf([{ id: 'both', requiredCapabilities: ['build', 'paint'] }]);
  const crew = () => new FakeTeam().agent('mars', { build: () => ({}), paint: () => ({}) });
  const progressOf = (runId: string): MissionProgress => ({
    runId,
    accepted: new Map(),
    accept: () => Promise.resolve(),
  });

  it('goes on with a swarm that the same run formed in a process before, and asks nobody again', async () => {
    const team = crew();
    await start(team, both, undefined, progressOf('r1')).outcome;
    const before = team.asked.filter(({ agent }) => agent === 'mars').length;
    const { outcome } = start(team, both, undefined, progressOf('r1'));
    expect((await outcome).stopReason).toBe('all-accepted');
    expect(team.swarms.formed).toHaveLength(1);
    expect(team.asked.filter(({ agent }) => agent === 'mars')).toHaveLength(before);
  });

  it('ends the swarm of a run that is not resumed, and forms its own', async () => {
    const team = crew();
    await start(team, both, undefined, progressOf('r1')).outcome;
    const own = await team.swarms.createSwarm('of somebody else', [], {});
    expect((await start(team, both, undefined, progressOf('r2')).outcome).stopReason).toBe('all-accepted');
    expect(team.swarms.formed).toHaveLength(3);
    expect(team.swarms.cancelled).toEqual(['swarm-1']);
    expect(own.id).toBe('swarm-2');
  });
});
