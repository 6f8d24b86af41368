/** Says whether a value is a promise. One that throws when it is read is none. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return typeof (value as { then?: unknown }).then === 'function';
  } catch {
    return false;
  }
}

/** Resolves as `value` does. Rejects with the reason of `signal` as soon as that aborts. */
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

/** Runs steps one after the other, in the order in which they were added. After one that fails, none is run. */
export class InOrder {
  #last: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** Runs a synchronous step at once, if none is before it. */
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

  /** Resolves when all steps have run. Rejects with the error of the one that failed. */
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
