/**
 * Bounds how many are inside at once, altogether and for each key. One that waits for a key does not hold up those of other
 * keys; else the order is first come, first served.
 */
export class KeyedSemaphore {
  readonly #most: number;
  readonly #mostOfKey: number;
  readonly #inside = new Map<string, number>();
  #count = 0;
  readonly #waiting = new Set<Waiter>();

  constructor(most: number, mostOfKey: number) {
    this.#most = most;
    this.#mostOfKey = mostOfKey;
  }

  /** Resolves, when there is room for all of the keys, to the function that leaves. Rejects with the signal's reason. */
  enter(keys: readonly string[], signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#hasRoom(keys)) return Promise.resolve(this.#admit(keys));
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.delete(waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        keys,
        go: () => {
          signal.removeEventListener('abort', abort);
          resolve(this.#admit(keys));
        },
      };
      this.#waiting.add(waiter);
      signal.addEventListener('abort', abort);
    });
  }

  #hasRoom(keys: readonly string[]): boolean {
    return this.#count < this.#most && keys.every((key) => (this.#inside.get(key) ?? 0) < this.#mostOfKey);
  }

  #admit(keys: readonly string[]): () => void {
    this.#count += 1;
    for (const key of keys) this.#inside.set(key, (this.#inside.get(key) ?? 0) + 1);
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.#leave(keys);
    };
  }

  #leave(keys: readonly string[]): void {
    this.#count -= 1;
    for (const key of keys) {
      const left = (this.#inside.get(key) ?? 1) - 1;
      if (left === 0) this.#inside.delete(key);
      else this.#inside.set(key, left);
    }
    for (const waiter of this.#waiting) {
      if (this.#count >= this.#most) return;
      if (!this.#hasRoom(waiter.keys)) continue;
      this.#waiting.delete(waiter);
      waiter.go();
    }
  }
}

interface Waiter {
  readonly keys: readonly string[];
  readonly go: () => void;
}
