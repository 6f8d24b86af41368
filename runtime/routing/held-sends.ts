import { Fifo } from '../mailbox/fifo.ts';
import { letGo, sendAway, type WaitingSend } from '../mailbox/waiting-send.ts';

/** The most sends of one thread that may wait for its table. */
const CAPACITY = 1_000;

/** The sends that wait for a thread's table, in their order. */
export class HeldSends {
  #sends = new Fifo<WaitingSend>();

  get size(): number {
    return this.#sends.length;
  }

  /** Adds a send; false if the most that may wait do. */
  add(send: WaitingSend): boolean {
    if (this.#sends.length >= CAPACITY) return false;
    this.#sends.push(send);
    return true;
  }

  /** Lets all go that still wait. `nowMs`: Unix milliseconds. */
  letGo(nowMs: number): void {
    for (const send of this.#takeAll()) letGo(send, nowMs);
  }

  fail(error: Error): void {
    for (const send of this.#takeAll()) send.fail(error);
  }

  /** Fails the sends that wait no longer. */
  sendAway(nowMs: number): void {
    sendAway(this.#sends, nowMs, (stay) => {
      this.#sends = stay;
    });
  }

  #takeAll(): WaitingSend[] {
    const taken: WaitingSend[] = [];
    for (let send = this.#sends.shift(); send !== undefined; send = this.#sends.shift()) taken.push(send);
    return taken;
  }
}
