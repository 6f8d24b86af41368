import { Fifo } from '../mailbox/fifo.ts';
import { sendAway, type WaitingSend } from '../mailbox/waiting-send.ts';

/** Sends of one thread that wait for its table at most. */
const CAPACITY = 1_000;

/** The sends that wait for a thread's table, in their order. */
export class HeldSends {
  #sends = new Fifo<WaitingSend>();

  get size(): number {
    return this.#sends.length;
  }

  /** False when as many wait as may. */
  add(send: WaitingSend): boolean {
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
