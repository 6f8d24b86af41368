/** Says whether a handler answers later. What throws when it is asked is no promise. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return typeof (value as { then?: unknown }).then === 'function';
  } catch {
    return false;
  }
}

/** What `value` comes to; rejects with the reason of `signal` as soon as that aborts, whatever becomes of `value` then. */
export async function untilAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([value, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Steps one after the other, in the order in which they were given; after one that fails none is taken. */
export class InOrder {
  #last: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** Takes a step that cannot wait at once, if none is before it. */
  addNow(step: () => void): void {
    if (this.#last === undefined && this.#failure === undefined) step();
    else this.add(async () => step());
  }

  add(step: () => Promise<void>): void {
    const before = this.#last;
    const last = this.#take(before, step).then(() => {
      if (this.#last === last) this.#last = undefined;
    });
    this.#last = last;
  }

  /** Resolves when all steps are taken. Rejects with what one of them has failed with. */
  async whenDone(): Promise<void> {
    while (this.#last !== undefined) await this.#last;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #take(before: Promise<void> | undefined, step: () => Promise<void>): Promise<void> {
    await before;
    if (this.#failure !== undefined) return;
    try {
      await step();
    } catch (error) {
      this.#failure = { error };
    }
  }
}
