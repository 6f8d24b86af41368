import { Fifo } from '../mailbox/fifo.ts';

/**
 * One envelope on its way.
 *
 * - `json`, `bytes`  as it crosses, without the frame around it and without its deadline.
 * - `sequence`       its place, given when it enters the window.
 * - `retries`        how often it was sent again over this connection; `delayMs` is the wait before the next time.
 * - `losses`         connections that were lost while it was the oldest, and that brought nothing further.
 * - `givenUpBecause` the other end is asked to pass it over.
 * - `isHandedOver`   this connection has it; `givenAtMs` is when it was last given to it, in monotonic milliseconds.
 * - `isAskedAfter`   the other end was asked whether it is there before this one is given up.
 */
export interface Delivery {
  readonly envelopeId: string;
  readonly json: string;
  readonly bytes: number;
  readonly deadlineAtMs: number | undefined;
  readonly settle: (error?: Error) => void;
  sequence: number;
  retries: number;
  delayMs: number;
  losses: number;
  givenUpBecause: string | undefined;
  isHandedOver: boolean;
  givenAtMs: number;
  isAskedAfter: boolean;
}

/** What one end has sent and the other has not acknowledged, and what waits for room. */
export class SendWindow {
  readonly #waitingCapacity: number;
  #size: number;
  readonly #unsettled = new Fifo<Delivery>();
  readonly #waiting = new Fifo<Delivery>();
  #nextSequence = 0;
  // How many of the unsettled have been given to this connection.
  #given = 0;
  #acknowledged = 0;

  constructor(size: number, waitingCapacity: number) {
    this.#size = size;
    this.#waitingCapacity = waitingCapacity;
  }

  /** The oldest that is not settled. */
  get head(): Delivery | undefined {
    return this.#unsettled.peek();
  }

  /** Whether this connection was given the oldest. */
  get isHeadGiven(): boolean {
    return this.#given > 0;
  }

  /** How many the other end has received, as far as it said. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Queues an envelope; false when too many wait. */
  add(delivery: Delivery): boolean {
    const room = Math.max(0, this.#size - this.#unsettled.length) + this.#waitingCapacity;
    if (this.#waiting.length >= room) return false;
    this.#waiting.push(delivery);
    return true;
  }

  /** Removes an envelope that waits; false when it is on its way. */
  takeBack(delivery: Delivery): boolean {
    for (let at = 0; at < this.#waiting.length; at++) {
      if (this.#waiting.at(at) === delivery) return this.#waiting.removeAt(at) !== undefined;
    }
    return false;
  }

  /** The next for this connection, while the window has room. */
  next(): Delivery | undefined {
    const again = this.#unsettled.at(this.#given);
    if (again !== undefined) {
      this.#given += 1;
      return again;
    }
    if (this.#unsettled.length >= this.#size) return undefined;
    const delivery = this.#waiting.shift();
    if (delivery === undefined) return undefined;
    delivery.sequence = this.#nextSequence++;
    this.#unsettled.push(delivery);
    this.#given += 1;
    return delivery;
  }

  /** Says whether the other end can have received so many, no fewer than it said before. */
  canHaveReceived(received: number): boolean {
    return received >= this.#acknowledged && received <= this.#nextSequence;
  }

  /** A new connection, to an end that keeps `size` envelopes: all that is unsettled is to be given again, in order. */
  beginAgain(size: number): void {
    this.#size = size;
    this.#given = 0;
    for (let at = 0; at < this.#unsettled.length; at++) {
      const delivery = this.#unsettled.at(at) as Delivery;
      delivery.isHandedOver = false;
      delivery.retries = 0;
      delivery.isAskedAfter = false;
    }
  }

  /** Removes what the other end has received. */
  acknowledge(received: number): readonly Delivery[] {
    this.#acknowledged = Math.max(this.#acknowledged, received);
    const settled: Delivery[] = [];
    for (let { head } = this; head !== undefined && head.sequence < received; head = this.head) {
      this.#unsettled.shift();
      this.#given = Math.max(0, this.#given - 1);
      settled.push(head);
    }
    return settled;
  }

  /** Removes everything, oldest first: what is on its way, and what waits. */
  clear(): { readonly unsettled: readonly Delivery[]; readonly waiting: readonly Delivery[] } {
    const takeAll = (from: Fifo<Delivery>): Delivery[] => {
      const all: Delivery[] = [];
      for (let one = from.shift(); one !== undefined; one = from.shift()) all.push(one);
      return all;
    };
    this.#given = 0;
    return { unsettled: takeAll(this.#unsettled), waiting: takeAll(this.#waiting) };
  }
}
