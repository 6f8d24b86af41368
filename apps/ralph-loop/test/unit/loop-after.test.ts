import { OrreryError } from 'orrery';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/fixtures/fake-clock.ts';
import { EarlierResult } from '../../loop/earlier-result.ts';
import { runMission } from '../../loop/run-mission.ts';
import { FakeTeam, finding } from './fake-team.ts';
import { missionOf, run, start } from './loop-of-fakes.ts';

describe('a task that comes after others', () => {
  const tasks = [
    { id: 'sum', capability: 'sum', after: ['good', 'bad', 'none'] },
    { id: 'good', capability: 'good' },
    { id: 'bad', capability: 'bad' },
    { id: 'none', capability: 'none' },
  ];
  const crew = () =>
    new FakeTeam()
      .agent('mars', {
        good: () => ({ findings: [finding()], notes: [{ kind: 'k', reason: 'r' }], summary: 'all read' }),
        bad: () => {
          throw new OrreryError('REFUSED', 'I will not');
        },
        none: () => ({ nothing: 'no stylesheets' }),
      })
      .agent('atlas', { sum: () => ({ summary: 'one of three' }) });

  it('starts when they are over, however they ended, and is told what they came to', async () => {
    const team = crew();
    const outcome = await run(team, missionOf(tasks));
    expect(outcome.tasks.map(({ status }) => status)).toEqual(['accepted', 'accepted', 'failed', 'nothing']);
    const asked = team.asked.filter(({ capability }) => capability === 'sum');
    expect(asked).toHaveLength(1);
    const results = EarlierResult.array().parse(asked[0]?.input['results']);
    expect(results.map(({ id, status, agent, place }) => [id, status, agent, place])).toEqual([
      ['good', 'accepted', 'mars', 'worker-1'],
      ['bad', 'failed', 'mars', 'worker-1'],
      ['none', 'nothing', 'mars', 'worker-1'],
    ]);
    expect(results[0]).toMatchObject({ findings: [finding()], notes: [{ kind: 'k' }], summary: 'all read' });
    expect(results[1]?.attempts).toMatchObject([{ ended: 'lost', code: 'REFUSED' }]);
    expect(results[2]).toMatchObject({ nothing: 'no stylesheets', attempts: [{ ended: 'nothing' }] });
  });

  it('is told so in a swarm, too', async () => {
    const team = crew().agent('venus', { look: () => ({}) });
    const [, ...others] = tasks;
    const both = { id: 'sum', requiredCapabilities: ['sum', 'look'], after: ['good', 'bad', 'none'] };
    await run(team, missionOf([both, ...others]));
    const told = team.asked.filter(({ capability }) => capability === 'sum' || capability === 'look');
    expect(told.map(({ input }) => (input['results'] as unknown[]).length)).toEqual([3, 3]);
  });

  it('is given the path of the former report beside them', async () => {
    const team = crew();
    const options = { root: '/repo', baseline: '/former.json' };
    await runMission(missionOf(tasks), options, { team, clock: new FakeClock() });
    expect(team.asked.flatMap(({ input, capability }) => ('baseline' in input ? [capability] : []))).toEqual([
      'sum',
    ]);
  });

  it('is given no results when it comes after none', async () => {
    const team = crew();
    await run(team, missionOf([{ id: 'good', capability: 'good' }]));
    expect(team.work[0]?.input).not.toHaveProperty('results');
  });
});

describe('a task whose agent finds nothing to read', () => {
  it('is over without a judgement, says what there was none of, and lets others begin', async () => {
    const team = new FakeTeam().agent('europa', {
      styles: () => ({ nothing: 'no stylesheets' }),
      follow: () => ({}),
    });
    const outcome = await run(
      team,
      missionOf([
        { id: 'styles', capability: 'styles' },
        { id: 'then', capability: 'follow', dependsOn: ['styles'] },
      ]),
    );
    expect(outcome.stopReason).toBe('all-accepted');
    expect(outcome.tasks[0]).toMatchObject({
      status: 'nothing',
      context: { why: 'nothing to read: no stylesheets' },
    });
    expect(team.asked.filter(({ agent }) => agent === 'mercury')).toHaveLength(1);
  });

  it('is judged when it has findings all the same', async () => {
    const team = new FakeTeam().agent('europa', {
      styles: () => ({ nothing: 'no stylesheets', findings: [finding()] }),
    });
    const { tasks } = await run(team, missionOf([{ id: 'styles', capability: 'styles' }]));
    expect(tasks[0]).toMatchObject({ status: 'accepted', context: { findings: [finding()] } });
  });

  it('need not be asked again by a run that goes on', async () => {
    const team = new FakeTeam().agent('europa', { styles: () => ({ nothing: 'no stylesheets' }) });
    const mission = missionOf([{ id: 'styles', capability: 'styles' }]);
    const kept = new Map<string, never>();
    const progress = {
      runId: 'r1',
      accepted: kept,
      accept: async (id: string, { item: _item, ...context }: object & { item: unknown }) => {
        kept.set(id, context as never);
      },
    };
    await start(team, mission, undefined, { ...progress, accepted: new Map() }).outcome;
    const { tasks } = await start(team, mission, undefined, progress).outcome;
    expect(tasks[0]?.status).toBe('nothing');
    expect(team.work).toHaveLength(1);
  });
});

describe('the places of the machine', () => {
  it('are as many as its cores where the mission does not say', async () => {
    let inHand = 0;
    let most = 0;
    const team = new FakeTeam().agent('mars', {
      work: async () => {
        inHand += 1;
        most = Math.max(most, inHand);
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        inHand -= 1;
        return {};
      },
    });
    const tasks = Array.from({ length: 7 }, (_, index) => ({ id: `t${index}`, capability: 'work' }));
    await start(team, missionOf(tasks), undefined, undefined, 3).outcome;
    expect(most).toBe(3);
  });

  it('are not taken up by what waits for its judgement: every shorter task is reported as soon as it is done', async () => {
    const long = Promise.withResolvers<void>();
    const team = new FakeTeam().agent('mars', {
      long: async () => {
        await long.promise;
        return {};
      },
      short: () => ({ findings: [finding()] }),
    });
    const { seen, outcome } = start(
      team,
      missionOf(
        [
          ...Array.from({ length: 5 }, (_, index) => ({ id: `s${index}`, capability: 'short' })),
          { id: 'long', capability: 'long', estimateMs: 60_000 },
        ],
        { maxAttempts: 1, maxParallel: 2 },
      ),
    );
    for (let index = 0; index < 5; index++)
      await seen(
        (event) => event.type === 'task.changed' && event.task === `s${index}` && event.status === 'accepted',
      );
    long.resolve();
    expect((await outcome).stopReason).toBe('all-accepted');
    expect(team.work[0]?.capability).toBe('long');
  });
});

describe('findings that nobody judged', () => {
  const answered = () => {
    const judging = Promise.withResolvers<void>();
    const team = new FakeTeam().agent('mars', { work: () => ({ findings: [finding()] }) }).agent('mercury', {
      'findings.verify': () => {
        judging.resolve();
        return new Promise<never>(() => undefined);
      },
    });
    return { team, judging: judging.promise };
  };

  it('are kept when the mission is stopped', async () => {
    const { team, judging } = answered();
    const stop = new AbortController();
    const { outcome } = start(team, missionOf([{ id: 'a', capability: 'work' }]), stop.signal);
    await judging;
    stop.abort();
    expect((await outcome).tasks[0]).toMatchObject({
      status: 'cancelled',
      context: { findings: [], unjudged: [finding()] },
    });
  });

  it('are kept when its time is over', async () => {
    const { team, judging } = answered();
    const mission = missionOf([{ id: 'a', capability: 'work' }], { timeoutMs: 1_000 });
    const { clock, outcome } = start(team, mission);
    await judging;
    clock.advance(1_000);
    expect((await outcome).tasks[0]?.context.unjudged).toEqual([finding()]);
  });

  it('are kept when the gate is out of reach', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({ findings: [finding()] }) }).agent('mercury', {
      'findings.verify': () => {
        throw new OrreryError('ACTOR_DIED', 'boom');
      },
    });
    const { tasks } = await run(team, missionOf([{ id: 'a', capability: 'work' }]));
    expect(tasks[0]).toMatchObject({ status: 'blocked', context: { unjudged: [finding()] } });
  });
});
