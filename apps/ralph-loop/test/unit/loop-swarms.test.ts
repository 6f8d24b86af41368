import { OrreryError } from 'orrery';
import { describe, expect, it } from 'vitest';
import { RecoveryRequest } from '../../agents/capabilities.ts';
import { recoverTask } from '../../agents/recover.ts';
import { FakeTeam, finding } from './fake-team.ts';
import { missionOf, run, verdict } from './loop-of-fakes.ts';

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
