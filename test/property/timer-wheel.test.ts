import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TimerWheel } from '../../runtime/cell/timer-wheel.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

const TICK_MS = 20;

// Short ones, the default deadline, around the wheel's span of 40,960 ms, and far beyond it.
const delay = fc.oneof(
  fc.integer({ min: -50, max: 500 }),
  fc.integer({ min: 29_000, max: 31_000 }),
  fc.integer({ min: 40_900, max: 41_020 }),
  fc.integer({ min: 0, max: 10_000_000 }),
);

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('add' as const), delay, chained: fc.option(delay) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(60_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('jump' as const), ms: fc.nat(5_000_000) }) },
);

interface Expected {
  readonly dueMs: number;
  readonly addedMs: number;
  state: 'waits' | 'fired' | 'cancelled';
}

describe('the timer wheel', () => {
  it('fires every timer that is not cancelled once, never early and less than a tick late', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), fc.nat(1_000_000), (steps, startMs) => {
        const clock = new FakeClock(1_800_000_000_000 + startMs);
        const wheel = new TimerWheel(clock);
        const timers: { expected: Expected; cancel: () => void }[] = [];
        let jumpedToMs = 0;

        const add = (delayMs: number, chained: number | null): void => {
          const expected: Expected = { dueMs: clock.now() + delayMs, addedMs: clock.now(), state: 'waits' };
          const timer = wheel.add(expected.dueMs, () => {
            expect(expected.state).toBe('waits');
            expected.state = 'fired';
            const nowMs = clock.now();
            expect(nowMs).toBeGreaterThanOrEqual(expected.dueMs);
            // One that was due when it was added waits for the next tick; one that was slept through is as late as that.
            const fromMs = Math.max(expected.dueMs, expected.addedMs, jumpedToMs);
            expect(nowMs - fromMs).toBeLessThanOrEqual(TICK_MS);
            if (chained !== null) add(chained, null);
          });
          timers.push({ expected, cancel: () => timer.cancel() });
        };

        for (const one of steps) {
          if (one.kind === 'add') add(one.delay, one.chained);
          else if (one.kind === 'advance') clock.advance(one.ms);
          else if (one.kind === 'jump') {
            clock.jump(one.ms);
            jumpedToMs = clock.now();
          } else {
            const timer = timers[one.which % Math.max(1, timers.length)];
            timer?.cancel();
            if (timer?.expected.state === 'waits') timer.expected.state = 'cancelled';
          }
          expect(clock.pending).toBeLessThanOrEqual(1);
        }
        clock.advance(21_000_000);
        expect(timers.filter(({ expected }) => expected.state === 'waits')).toEqual([]);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 500 },
    );
  });
});
