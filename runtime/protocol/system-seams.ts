import { randomBytes, randomFillSync } from 'node:crypto';
import type { Clock, EventLoop, IdSource, NewSecret, Random, Seams } from './seams.ts';
import type { Tracer } from './tracer.ts';
import { availableParallelism } from 'node:os';
import { isMainThread } from 'node:worker_threads';

/** The real clock. Only this file asks the machine for time, ids and chance. */
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

export const idText = (origin: string, serial: number): string => `${origin}-${serial.toString(36)}`;

/** Ids of 96 random bits a thread and a counter: `k3v9…-1z`. Unique across threads and machines, cheap to make. */
export function idSource(): IdSource {
  let count = 0;
  return { origin: randomBytes(12).toString('base64url'), next: () => ++count };
}

const SECRET_BYTES = 16;
const SECRETS_AT_ONCE = 256;

/** Makes secrets. It asks the machine for the bits of many at once: one by one they would cost several times as much. */
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

/** Who traces in this thread, once somebody does: for parts that are made before that is known, or outside of a system. */
let tracerHere: Tracer | undefined;

export function traceHere(tracer: Tracer): void {
  tracerHere = tracer;
}

/** The seams of a real system. Each thread has its own set. */
export function systemSeams(): Seams {
  const ids = idSource();
  const newId = (): string => idText(ids.origin, ids.next());
  return {
    ...{ clock: systemClock, ids, newId, newSecret: secretSource(), random: systemRandom },
    get tracer() {
      return tracerHere;
    },
  };
}

export const nodeEventLoop = (): EventLoop => ({
  defer: (run) => process.nextTick(run),
  soon: (run) => queueMicrotask(run),
  yieldTurn: (run) => setImmediate(run),
  listens: mannerOfListening(),
});

/** How this thread listens. The embedder's own thread never sleeps: it has other things to do. */
function mannerOfListening(): EventLoop['listens'] {
  if (availableParallelism() > 1) return 'awake';
  return isMainThread ? 'never' : 'asleep';
}
