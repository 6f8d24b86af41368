import { describe, expect, it } from 'vitest';
import { controlLost, systemStopped } from '../../../../runtime/protocol/errors.ts';
import { Health, type HealthProbe, isFatal } from '../../../../gateway/operating-parts.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const healthOf = (clock: FakeClock, ...looks: HealthProbe['look'][]): Health =>
  new Health({ clock, probes: looks.map((look, at) => ({ kind: `trouble-${at}`, look })) });

describe('What is wrong with a system (DESIGN 8)', () => {
  it('is nothing when no probe finds anything, and leaves no timer', async () => {
    const clock = new FakeClock();
    expect(await healthOf(clock, async () => []).troubles()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('is what all probes find, what they fail with, and that they do not answer', async () => {
    const clock = new FakeClock();
    const failure = new Error('postgres://user:secret@db');
    const found = healthOf(
      clock,
      async () => [{ kind: 'agent-failed', what: 'mars is failed' }],
      async () => {
        throw failure;
      },
      () => new Promise(() => undefined),
      async () => {
        throw controlLost('it was killed');
      },
      async () => {
        throw systemStopped('it was stopped');
      },
    ).troubles();
    await clock.advanceAsync(2_000);
    const troubles = await found;
    expect(troubles.map(({ kind, what }) => [kind, what])).toEqual([
      ['agent-failed', 'mars is failed'],
      ['trouble-1', 'it failed'],
      ['trouble-2', 'it did not answer within 2000 ms'],
      ['control-lost', 'it failed with CONTROL_LOST'],
      ['stopped', 'it failed with SYSTEM_STOPPED'],
    ]);
    expect(troubles[1]?.cause).toBe(failure);
    expect(troubles.filter(isFatal).map(({ kind }) => kind)).toEqual(['control-lost', 'stopped']);
    expect(clock.pending).toBe(0);
  });

  it('is looked into once a second, however many ask', async () => {
    const clock = new FakeClock();
    let looks = 0;
    const health = healthOf(clock, async () => {
      looks += 1;
      return [];
    });
    await Promise.all(Array.from({ length: 100 }, () => health.troubles()));
    clock.advance(999);
    await health.troubles();
    expect(looks).toBe(1);
    clock.advance(1);
    await health.troubles();
    expect(looks).toBe(2);
  });
});
