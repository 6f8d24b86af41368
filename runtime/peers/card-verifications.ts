import type { Clock } from '../protocol/seams.ts';

/** Peers whose use is remembered. */
const MAX_PEERS = 1_000;
const SECOND_MS = 1_000;

interface Bucket {
  readonly tokens: number;
  readonly filledAtMs: number;
}

/** How many signatures are checked for each peer: a bucket of tokens that fills again. */
export class CardVerifications {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Pick<Clock, 'monotonicMs'>, perSecond: number, burst: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#burst = burst;
  }

  /** Takes a token of the peer; false if there is none. */
  take(peer: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    const { tokens, filledAtMs } = this.#buckets.get(peer) ?? { tokens: this.#burst, filledAtMs: nowMs };
    const filled = tokens + ((nowMs - filledAtMs) * this.#perSecond) / SECOND_MS;
    const left = Math.min(this.#burst, filled) - 1;
    // Set anew, it stands last: the first was not used for longest, and makes room.
    this.#buckets.delete(peer);
    this.#buckets.set(peer, { tokens: left < 0 ? left + 1 : left, filledAtMs: nowMs });
    if (this.#buckets.size > MAX_PEERS) {
      const [oldest = ''] = this.#buckets.keys();
      this.#buckets.delete(oldest);
    }
    return left >= 0;
  }
}
