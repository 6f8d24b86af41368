import { describe, expect, it } from 'vitest';
import {
  type ProgressSample,
  ProgressWatch,
  type NoProgress,
} from '../../../runtime/supervision/progress-watch.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const QUIET = 'for 30 s it said nothing and used no processor time';
const LIMITS = { quietMs: 30_000, computeMs: 10_000 };

/** Watches something of which `step` says what it does in each half second; `answers` whether it can be asked. */
function watched(step: (footing: ProgressSample, at: number) => Partial<ProgressSample>) {
  const clock = new FakeClock();
  let footing: ProgressSample = { signs: 0, beat: 1, cpuMs: 0 };
  const team = { clock, found: [] as NoProgress[], answers: true, run, watch: undefined as unknown };
  const watch = new ProgressWatch(
    {
      clock,
      sample: () => (team.answers ? Promise.resolve(footing) : new Promise(() => undefined)),
      onStill: (still) => team.found.push(still),
    },
    LIMITS,
  );
  async function run(seconds: number): Promise<void> {
    for (let at = 0; at < 2 * seconds; at++) {
      footing = { ...footing, ...step(footing, at) };
      await clock.advanceAsync(500);
    }
  }
  return { ...team, team, watch };
}

describe('Something that is waited for', () => {
  it('and does nothing is given up after the limit, once, and not watched any more', async () => {
    const { run, found, clock } = watched(() => ({}));
    await run(29);
    expect(found).toEqual([]);
    await run(60);
    expect(found).toEqual([{ why: 'quiet', hasBegun: true, text: QUIET }]);
    expect(clock.pending).toBe(0);
  });

  it.each<[string, (footing: ProgressSample, at: number) => Partial<ProgressSample>]>([
    ['uses a hundredth of the processor', ({ cpuMs, beat }) => ({ cpuMs: cpuMs + 5, beat: beat + 1 })],
    ['says something now and then', ({ signs }, at) => (at % 50 === 0 ? { signs: signs + 1 } : {})],
    ['could run, but gets no processor', () => ({ isRunnable: true })],
    ['has not begun, and computes', ({ cpuMs }) => ({ beat: 0, cpuMs: cpuMs + 500 })],
  ])('and %s is waited for as long as it takes', async (_, step) => {
    const { run, found } = watched(step);
    await run(600);
    expect(found).toEqual([]);
  });

  it('and only turns its event loop waits for something that does not come', async () => {
    const { run, found } = watched(({ beat, cpuMs }) => ({ beat: beat + 10, cpuMs: cpuMs + 0.5 }));
    await run(60);
    expect(found).toEqual([{ why: 'quiet', hasBegun: true, text: QUIET }]);
  });

  it.each<[string, (footing: ProgressSample, at: number) => Partial<ProgressSample>]>([
    ['gets no processor, and then sleeps', (_, at) => ({ isRunnable: at < 60 })],
    [
      'only turns its event loop, whenever it is looked at',
      ({ beat }) => ({ beat: beat + 10, isRunnable: true }),
    ],
  ])('and %s is given up', async (_, step) => {
    const { run, found } = watched(step);
    await run(29);
    expect(found).toEqual([]);
    await run(61);
    expect(found).toMatchObject([{ why: 'quiet' }]);
  });

  it('and computes without turning its event loop is given up by the processor time that it used', async () => {
    const slow = watched(({ cpuMs }) => ({ cpuMs: cpuMs + 50 }));
    await slow.run(90);
    expect(slow.found).toEqual([]);
    await slow.run(20);
    expect(slow.found).toEqual([
      { why: 'looping', hasBegun: true, text: 'it computed for 10 s without a pause' },
    ]);
  });

  it('and does not answer is given up as one that does nothing', async () => {
    const { run, found, team } = watched(({ beat, cpuMs }) => ({ beat: beat + 1, cpuMs: cpuMs + 100 }));
    await run(60);
    expect(found).toEqual([]);
    team.answers = false;
    await run(31);
    expect(found).toMatchObject([{ why: 'quiet' }]);
  });

  it('is not given up because whoever watches could not look', async () => {
    const { clock, run, found } = watched(() => ({}));
    clock.jump(600_000);
    await run(20);
    expect(found).toEqual([]);
  });

  it('and has come is not watched any more', async () => {
    const { run, found, watch } = watched(() => ({}));
    watch.close();
    await run(60);
    expect(found).toEqual([]);
  });
});
