import type { Clock } from '../../runtime/protocol/seams.ts';

/** `ttlMs`: how long a value is good. `capacity`: how many are kept; whoever was not asked for longest goes first. */
export interface TtlCacheOptions {
  readonly ttlMs: number;
  readonly capacity: number;
}

interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly untilMs: number;
}

/** Keeps what takes long to find out. Those who ask for the same at once wait for one answer; a failure is not kept. */
export class TtlCache<Value> {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #options: TtlCacheOptions;
  readonly #load: (key: string) => Promise<Value>;
  readonly #entries = new Map<string, Entry<Value>>();

  constructor(
    clock: Pick<Clock, 'now'>,
    { ttlMs, capacity }: TtlCacheOptions,
    load: (key: string) => Promise<Value>,
  ) {
    this.#clock = clock;
    this.#options = { ttlMs, capacity };
    this.#load = load;
  }

  get(key: string): Promise<Value> {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const entry = known !== undefined && known.untilMs > this.#clock.now() ? known : this.#fetch(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#options.capacity) this.#forgetOldest();
    return entry.value;
  }

  #fetch(key: string): Entry<Value> {
    const entry = { value: this.#load(key), untilMs: this.#clock.now() + this.#options.ttlMs };
    entry.value.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    return entry;
  }

  #forgetOldest(): void {
    const [oldest = ''] = this.#entries.keys();
    this.#entries.delete(oldest);
  }
}
