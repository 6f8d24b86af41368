import { Fifo } from '../mailbox/fifo.ts';

/** Sends of one thread that wait for its table at most. */
const CAPACITY = 1_000;

/**
 * A send whose recipient is not known, while the table may lack it.
 *
 * - `go`       called when the table is whole: routes it.
 * - `whyLeave` says why it waits no longer, while it does.
 * - `fail`     called with that, or with what the router was stopped with.
 */
export interface HeldSend {
  readonly go: () => void;
  readonly whyLeave: (nowMs: number) => Error | undefined;
  readonly fail: (error: Error) => void;
}

/** The sends that wait for a thread's table, in their order. */
export class HeldSends {
  #sends = new Fifo<HeldSend>();

  get size(): number {
    return this.#sends.length;
  }

  /** False when as many wait as may. */
  add(send: HeldSend): boolean {
    if (this.#sends.length >= CAPACITY) return false;
    this.#sends.push(send);
    return true;
  }

  letGo(): void {
    for (const send of this.#takeAll()) send.go();
  }

  fail(error: Error): void {
    for (const send of this.#takeAll()) send.fail(error);
  }

  /** Fails those that wait no longer. */
  sendAway(nowMs: number): void {
    for (const send of this.#takeAll()) {
      const why = send.whyLeave(nowMs);
      if (why === undefined) this.#sends.push(send);
      else send.fail(why);
    }
  }

  #takeAll(): HeldSend[] {
    const taken: HeldSend[] = [];
    for (let send = this.#sends.shift(); send !== undefined; send = this.#sends.shift()) taken.push(send);
    return taken;
  }
}
