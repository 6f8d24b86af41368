import { randomBytes } from 'node:crypto';
import { type Clock, type IdSource, idText, type Random, type Seams } from './seams.ts';

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
export function idSource(): IdSource {
  let count = 0;
  return { origin: randomBytes(12).toString('base64url'), next: () => ++count };
}

/** The seams of a real system, one set a thread. */
export function systemSeams(): Seams {
  const ids = idSource();
  const newId = (): string => idText(ids.origin, ids.next());
  return { clock: systemClock, ids, newId, random: systemRandom };
}
