import { EventRing } from '../observe/event-ring.ts';
import type { DeadLetter } from '../system/system.ts';

const LETTERS_KEPT = 16_384;
const ENVELOPES_KEPT = 1_024;

/** The last dead letters of a system: many by name and reason, the newest with their whole envelope. */
export class DeadLetterBook {
  readonly #letters = new EventRing<DeadLetter>(LETTERS_KEPT);
  readonly #envelopes = new Map<DeadLetter, DeadLetter['envelope']>();

  add({ envelope, ...letter }: DeadLetter): void {
    this.#letters.push(letter);
    if (envelope === undefined) return;
    this.#envelopes.set(letter, envelope);
    const [oldest] = this.#envelopes.keys();
    if (this.#envelopes.size > ENVELOPES_KEPT && oldest !== undefined) this.#envelopes.delete(oldest);
  }

  /** Oldest first. */
  toArray(): DeadLetter[] {
    return this.#letters.toArray().map((letter) => {
      const envelope = this.#envelopes.get(letter);
      return envelope === undefined ? letter : { ...letter, envelope };
    });
  }
}
