import type { Taint } from '../protocol/taint.ts';

/** A death may have a sender send again what one batch of its handlings sent. */
const IDS_A_SENDER = 1_024;
const SENDERS = 64;

/** What was answered, and reported before that; without a kind it is only known that the envelope was taken. */
export interface Answer {
  readonly kind: number | undefined;
  readonly payload: unknown;
  readonly reports?: readonly unknown[] | undefined;
  /** How many were reported before those, and are not known any more. */
  readonly droppedReports?: number | undefined;
  /** Where that came from outside. */
  readonly taint?: Taint | undefined;
}

const NOT_ANSWERED: Answer = { kind: undefined, payload: undefined };

/**
 * The last envelopes with derived ids that an agent took, and what it answered: when their sender died in mid-work and
 * sends them again under the same ids, they are not handled twice.
 *
 * Each sender has a share of its own: however much others send meanwhile, what it sent is still known.
 */
export class AnsweredIds {
  /** The one heard of last stands last. */
  readonly #senders = new Map<string, Map<string, Answer>>();
  readonly #onForget: (sender: string, id: string) => void;

  constructor(onForget: (sender: string, id: string) => void = () => undefined) {
    this.#onForget = onForget;
  }

  /** What is known of `id`; when nothing is, it is remembered as taken from now on. */
  recall(sender: string, id: string): Answer | undefined {
    const known = this.#of(sender).get(id);
    if (known === undefined) this.add(sender, id, NOT_ANSWERED);
    return known;
  }

  /** What is known of `id`. */
  get(sender: string, id: string): Answer | undefined {
    return this.#senders.get(sender)?.get(id);
  }

  remember(sender: string, id: string, answer: Answer): void {
    const answers = this.#senders.get(sender);
    if (answers?.has(id) === true) answers.set(id, answer);
  }

  /** Remembers `id` as taken, and so answered. */
  add(sender: string, id: string, answer: Answer): void {
    const answers = this.#of(sender);
    answers.set(id, answer);
    const [oldest] = answers.keys();
    if (answers.size <= IDS_A_SENDER || oldest === undefined) return;
    answers.delete(oldest);
    this.#onForget(sender, oldest);
  }

  #of(sender: string): Map<string, Answer> {
    const known = this.#senders.get(sender) ?? new Map<string, Answer>();
    this.#senders.delete(sender);
    this.#senders.set(sender, known);
    if (this.#senders.size > SENDERS) this.#forgetFirst();
    return known;
  }

  #forgetFirst(): void {
    const [first] = this.#senders;
    if (first === undefined) return;
    const [sender, answers] = first;
    this.#senders.delete(sender);
    for (const id of answers.keys()) this.#onForget(sender, id);
  }
}

/** So much of what one envelope's handler reports is remembered with its answer, as JSON. */
const MAX_BYTES = 1024 * 1024;

/**
 * What was reported in between to an asker that may ask again: the newest, as far as it is not too much. `dropped`: how many
 * came before them.
 */
export class RecentReports {
  readonly #sizes: number[] = [];
  readonly #items: unknown[] = [];
  #bytes = 0;
  dropped: number;

  constructor(dropped = 0) {
    this.dropped = dropped;
  }

  /** The oldest first. */
  get items(): readonly unknown[] {
    return this.#items;
  }

  add(what: unknown): void {
    const size = Buffer.byteLength(JSON.stringify(what));
    this.#items.push(what);
    this.#sizes.push(size);
    this.#bytes += size;
    while (this.#bytes > MAX_BYTES) {
      this.#items.shift();
      this.#bytes -= this.#sizes.shift() ?? 0;
      this.dropped += 1;
    }
  }
}
