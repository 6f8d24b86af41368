import { randomBytes } from 'node:crypto';
import type { Clock, NewId, Random, Seams } from './seams.ts';

/** The real clock: the one place, with this file's other two, that asks the machine for time, ids and chance. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer: (delayMs, fire) => {
    const timer = setTimeout(fire, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export const systemRandom: Random = () => Math.random();

/** Ids of 96 random bits a thread and a counter: `k3v9…-1z`. Unique across threads and machines, cheap to make. */
export function idSource(): NewId {
  const prefix = randomBytes(12).toString('base64url');
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

/** The seams of a real system, one set a thread. */
export const systemSeams = (): Seams => ({ clock: systemClock, newId: idSource(), random: systemRandom });
