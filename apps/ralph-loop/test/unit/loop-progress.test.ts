import { describe, expect, it } from 'vitest';
import type { LoopEvent } from '../../loop/loop-event.ts';
import { FakeTeam } from './fake-team.ts';
import { missionOf, start } from './loop-of-fakes.ts';

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
  const progressOf = (runId: string) => ({
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
