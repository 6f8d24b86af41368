import { OrreryError, refused } from 'orrery';
import { describe, expect, it } from 'vitest';
import { FakeTeam } from './fake-team.ts';
import { missionOf, run } from './loop-of-fakes.ts';

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
