import { OrreryError } from 'orrery';
import { describe, expect, it } from 'vitest';
import { FakeTeam, finding } from './fake-team.ts';
import { missionOf, run, verdict } from './loop-of-fakes.ts';

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
