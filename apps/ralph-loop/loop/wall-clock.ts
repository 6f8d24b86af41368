import type { Clock } from 'orrery';

/** The clock on the wall. Its timers keep nobody alive. */
export const wallClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer: (delayMs, fire) => {
    const timer = setTimeout(fire, delayMs).unref();
    return () => clearTimeout(timer);
  },
};
