import type { Clock } from 'orrery';

/** The system's clock. Its timers do not keep the process alive. */
export const wallClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer: (delayMs, fire) => {
    const timer = setTimeout(fire, delayMs).unref();
    return () => clearTimeout(timer);
  },
};
