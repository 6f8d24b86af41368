const CAPACITY = 2_048;

interface Answer {
  readonly kind: number | undefined;
  readonly payload: unknown;
}

/**
 * The last envelopes with derived ids that an agent took, and what it answered: when their sender died in mid-work and
 * sends them again under the same ids, they are not handled twice.
 */
export class AnsweredIds {
  readonly #answers = new Map<string, Answer>();

  /** What is known of `id`; when nothing is, it is remembered as taken from now on. */
  recall(id: string): Answer | undefined {
    const known = this.#answers.get(id);
    if (known !== undefined) return known;
    this.#answers.set(id, { kind: undefined, payload: undefined });
    if (this.#answers.size > CAPACITY) this.#answers.delete(this.#answers.keys().next().value as string);
    return undefined;
  }

  remember(id: string, kind: number, payload: unknown): void {
    if (this.#answers.has(id)) this.#answers.set(id, { kind, payload });
  }
}
