import type { InFlow } from '../mailbox/in-flow.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { Taint } from '../protocol/taint.ts';

/** The last checkpoint of an envelope, which is named by its place in its flow; and where it came from outside. */
export interface KeptCheckpoint {
  readonly incarnation: number;
  readonly flow: number;
  readonly sequence: number;
  readonly partial: unknown;
  readonly taint?: Taint | undefined;
}

/** Which envelope it is. */
type CheckpointName = Omit<KeptCheckpoint, 'partial' | 'taint'>;

/**
 * The last checkpoint of each envelope of one thread that has no known outcome.
 *
 * `post` gives the control thread a copy: what is kept here dies with the thread.
 */
export class Checkpoints {
  readonly #incarnation: number;
  readonly #post: (kept: KeptCheckpoint) => void;
  readonly #kept = new Map<string, KeptCheckpoint>();

  constructor(incarnation: number, post: (kept: KeptCheckpoint) => void) {
    this.#incarnation = incarnation;
    this.#post = post;
  }

  /** Something is kept. */
  get isUsed(): boolean {
    return this.#kept.size > 0;
  }

  /** A copy of what was last kept of `mail`. */
  of(mail: Mail): unknown {
    return this.isUsed ? structuredClone(this.#kept.get(keyOf(this.#nameOf(mail)))?.partial) : undefined;
  }

  /** Where that came from outside. */
  taintOf(mail: Mail): Taint | undefined {
    return this.isUsed ? this.#kept.get(keyOf(this.#nameOf(mail)))?.taint : undefined;
  }

  keep(mail: Mail, partial: unknown, taint?: Taint): void {
    const kept = { ...this.#nameOf(mail), partial, ...(taint === undefined ? {} : { taint }) };
    this.restore(kept);
    this.#post(kept);
  }

  /** Takes over what an envelope kept in a thread that is gone. */
  restore(kept: KeptCheckpoint): void {
    this.#kept.set(keyOf(kept), kept);
  }

  /** The outcome of `mail` is known. */
  forget(mail: Mail): void {
    if (this.isUsed) this.#kept.delete(keyOf(this.#nameOf(mail)));
  }

  #nameOf(mail: Mail): CheckpointName {
    const { incarnation, flow } = mail.flow as InFlow;
    return { incarnation: incarnation < 0 ? this.#incarnation : incarnation, flow, sequence: mail.sequence };
  }
}

const keyOf = ({ incarnation, flow, sequence }: CheckpointName): string =>
  `${incarnation}/${flow}/${sequence}`;
