import type { InFlow } from '../mailbox/in-flow.ts';
import type { Mail } from '../mailbox/mail.ts';

/** The last checkpoint of an envelope, which is named by its place in its flow. */
export interface KeptCheckpoint {
  readonly seat: number;
  readonly flow: number;
  readonly sequence: number;
  readonly partial: unknown;
}

/**
 * The last checkpoint of each envelope of one thread that has no known outcome.
 *
 * `post` gives the control thread a copy: what is kept here dies with the thread.
 */
export class Checkpoints {
  readonly #seat: number;
  readonly #post: (kept: KeptCheckpoint) => void;
  readonly #kept = new Map<string, unknown>();

  constructor(seat: number, post: (kept: KeptCheckpoint) => void) {
    this.#seat = seat;
    this.#post = post;
  }

  /** Something is kept. */
  get isUsed(): boolean {
    return this.#kept.size > 0;
  }

  /** A copy of what was last kept of `mail`. */
  of(mail: Mail): unknown {
    return this.isUsed ? structuredClone(this.#kept.get(keyOf(this.#nameOf(mail)))) : undefined;
  }

  keep(mail: Mail, partial: unknown): void {
    const kept = { ...this.#nameOf(mail), partial };
    this.restore(kept);
    this.#post(kept);
  }

  /** Takes over what an envelope kept in a thread that is gone. */
  restore(kept: KeptCheckpoint): void {
    this.#kept.set(keyOf(kept), kept.partial);
  }

  /** The outcome of `mail` is known. */
  forget(mail: Mail): void {
    if (this.isUsed) this.#kept.delete(keyOf(this.#nameOf(mail)));
  }

  #nameOf(mail: Mail): Omit<KeptCheckpoint, 'partial'> {
    const { seat, flow } = mail.flow as InFlow;
    return { seat: seat < 0 ? this.#seat : seat, flow, sequence: mail.sequence };
  }
}

const keyOf = ({ seat, flow, sequence }: Omit<KeptCheckpoint, 'partial'>): string =>
  `${seat}/${flow}/${sequence}`;
