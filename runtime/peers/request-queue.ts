import { Fifo } from '../mailbox/fifo.ts';
import type { OwnRequest } from './own-request.ts';

/** Requests that wait until they can be said, in order. Those that are given up meanwhile count no more, and are soon let go of. */
export class RequestQueue {
  readonly #requests = new Fifo<OwnRequest>();
  #givenUp = 0;

  /** How many are still wanted. */
  get length(): number {
    return this.#requests.length - this.#givenUp;
  }

  push(request: OwnRequest): void {
    request.onGivenUp = this.#onGivenUp;
    this.#requests.push(request);
  }

  /** Puts one in front of all others. */
  unshift(request: OwnRequest): void {
    request.onGivenUp = this.#onGivenUp;
    this.#requests.unshift(request);
  }

  /** Takes the oldest that is still wanted. */
  shift(): OwnRequest | undefined {
    for (let oldest = this.#requests.shift(); oldest !== undefined; oldest = this.#requests.shift()) {
      oldest.onGivenUp = undefined;
      if (!oldest.isOver) return oldest;
      this.#givenUp -= 1;
    }
    return undefined;
  }

  /** Takes all that are still wanted, the oldest first. */
  takeAll(): OwnRequest[] {
    const all: OwnRequest[] = [];
    for (let next = this.shift(); next !== undefined; next = this.shift()) all.push(next);
    return all;
  }

  /** When most are not wanted any more, only the others stay. */
  readonly #onGivenUp = (): void => {
    this.#givenUp += 1;
    if (this.#givenUp <= this.length) return;
    for (let left = this.#requests.length; left > 0; left--) {
      const request = this.#requests.shift() as OwnRequest;
      if (!request.isOver) this.#requests.push(request);
    }
    this.#givenUp = 0;
  };
}
