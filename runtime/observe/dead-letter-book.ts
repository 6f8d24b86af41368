import { EventRing } from './event-ring.ts';
import { weigh } from './weigh.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';

const LETTERS_KEPT = 16_384;
const ENVELOPES_KEPT = 1_024;
/** Bytes of payloads that are kept, about. */
const BUDGET = 16_000_000;

interface Kept {
  readonly kept: Pick<DeadLetter, 'envelope' | 'partial'>;
  readonly weight: number;
}

/** The last dead letters of a system: many by name and reason, the newest with their whole envelope. */
export class DeadLetterBook {
  readonly #letters = new EventRing<DeadLetter>(LETTERS_KEPT);
  readonly #envelopes = new Map<DeadLetter, Kept>();
  #weight = 0;

  add({ envelope, partial, ...letter }: DeadLetter): void {
    this.#letters.push(letter);
    if (envelope === undefined && partial === undefined) return;
    const weight = weigh(envelope?.payload) + weigh(partial);
    const kept = {
      ...(envelope === undefined ? {} : { envelope }),
      ...(partial === undefined ? {} : { partial }),
    };
    this.#envelopes.set(letter, { kept, weight });
    this.#weight += weight;
    for (const [oldest, kept] of this.#envelopes) {
      if (this.#envelopes.size <= ENVELOPES_KEPT && this.#weight <= BUDGET) return;
      this.#envelopes.delete(oldest);
      this.#weight -= kept.weight;
    }
  }

  /** Oldest first. */
  toArray(): DeadLetter[] {
    return this.#letters.toArray().map((letter) => {
      const kept = this.#envelopes.get(letter);
      return kept === undefined ? letter : { ...letter, ...kept.kept };
    });
  }
}
