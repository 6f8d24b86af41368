import { OrreryError } from 'orrery';
import { describe, expect, it } from 'vitest';
import { RecoveryRequest } from '../../agents/capabilities.ts';
import { recoverTask } from '../../agents/recover.ts';
import { FakeTeam } from './fake-team.ts';
import { missionOf, run, start } from './loop-of-fakes.ts';

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
