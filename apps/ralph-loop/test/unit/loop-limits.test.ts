import { describe, expect, it } from 'vitest';
import type { LoopEvent } from '../../loop/loop-event.ts';
import { FakeTeam } from './fake-team.ts';
import { missionOf, run, start } from './loop-of-fakes.ts';

const working = (task: string) => (event: LoopEvent) =>
  event.type === 'task.changed' && event.task === task && event.status === 'working';

const never = () => new Promise<never>(() => undefined);

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
