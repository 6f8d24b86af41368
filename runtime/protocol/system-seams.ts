import { randomBytes, randomFillSync } from 'node:crypto';
import { type Clock, type IdSource, idText, type NewSecret, type Random, type Seams } from './seams.ts';

/** The real clock: the one place, with this file's others, that asks the machine for time, ids and chance. */
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

const SECRET_BYTES = 16;
const SECRETS_AT_ONCE = 256;

/** Asks the machine for the bits of many at once: by itself each would cost several times as much. */
function secretSource(): NewSecret {
  const pool = Buffer.alloc(SECRET_BYTES * SECRETS_AT_ONCE);
  let at = pool.length;
  return () => {
    if (at === pool.length) {
      randomFillSync(pool);
      at = 0;
    }
    at += SECRET_BYTES;
    return pool.toString('base64url', at - SECRET_BYTES, at);
  };
}

/** The seams of a real system, one set a thread. */
export function systemSeams(): Seams {
  const ids = idSource();
  const newId = (): string => idText(ids.origin, ids.next());
  return { clock: systemClock, ids, newId, newSecret: secretSource(), random: systemRandom };
}
