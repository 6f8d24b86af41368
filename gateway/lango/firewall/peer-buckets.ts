import type { Clock } from '../../../runtime/protocol/seams.ts';

const MINUTE_MS = 60_000;

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** Token buckets by name: each holds `perMinute` tokens at most, and gets as many in a minute. */
export class PeerBuckets {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #most: number;
  readonly #buckets = new Map<string, Bucket>();

  /** `most` buckets are held; the one that was not used for longest makes room, and is full when it comes again. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Takes a token; false if there is none. */
  take(name: string, perMinute: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#buckets.get(name) ?? { tokens: perMinute, filledAtMs: nowMs };
    const filled = bucket.tokens + ((nowMs - bucket.filledAtMs) * perMinute) / MINUTE_MS;
    const tokens = Math.min(perMinute, filled);
    const isThere = tokens >= 1;
    // Set anew, it stands last: the first is the one to make room.
    this.#buckets.delete(name);
    this.#buckets.set(name, { tokens: isThere ? tokens - 1 : tokens, filledAtMs: nowMs });
    if (this.#buckets.size > this.#most) this.#forgetOldest();
    return isThere;
  }

  drop(name: string): void {
    this.#buckets.delete(name);
  }

  get size(): number {
    return this.#buckets.size;
  }

  #forgetOldest(): void {
    const [oldest = ''] = this.#buckets.keys();
    this.#buckets.delete(oldest);
  }
}
