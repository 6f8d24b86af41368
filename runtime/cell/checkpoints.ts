import type { InFlow } from '../mailbox/in-flow.ts';
import type { Mail } from '../mailbox/mail.ts';
import { notSerialisable, reasonOf } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json.ts';
import type { Taint } from '../protocol/taint.ts';
import type { CellOutcomes } from './cell-outcomes.ts';
import type { SettleStep } from './settle-step.ts';

/** The last checkpoint of an envelope, which is named by its place in its flow; and where it came from outside. */
export interface Checkpoint {
  readonly incarnation: number;
  readonly flow: number;
  readonly sequence: number;
  readonly partial: unknown;
  readonly taint?: Taint | undefined;
}

/** Which envelope it is. */
type CheckpointName = Omit<Checkpoint, 'partial' | 'taint'>;

/**
 * The last checkpoint of each envelope of one thread that has no known outcome.
 *
 * `post` gives the control thread a copy: what is kept here dies with the thread.
 */
export class Checkpoints implements SettleStep {
  /** Something is kept. */
  isUsed = false;
  readonly #incarnation: number;
  readonly #post: (kept: Checkpoint) => void;
  readonly #kept = new Map<string, Checkpoint>();

  constructor(incarnation: number, post: (kept: Checkpoint) => void) {
    this.#incarnation = incarnation;
    this.#post = post;
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
  restore(kept: Checkpoint): void {
    this.#kept.set(keyOf(kept), kept);
    this.isUsed = true;
  }

  /** Forgets what was kept of `mail`. */
  settle(mail: Mail): void {
    if (!this.isUsed) return;
    this.#kept.delete(keyOf(this.#nameOf(mail)));
    this.isUsed = this.#kept.size > 0;
  }

  #nameOf(mail: Mail): CheckpointName {
    const { incarnation, flow } = mail.flow as InFlow;
    return { incarnation: incarnation < 0 ? this.#incarnation : incarnation, flow, sequence: mail.sequence };
  }
}

const keyOf = ({ incarnation, flow, sequence }: CheckpointName): string =>
  `${incarnation}/${flow}/${sequence}`;

/** What one attempt keeps of its work, and what it found there of the attempt before. */
export class Keeper {
  /** What the agent last said of its progress. */
  fraction = 0;
  /** What the attempt before kept, or one elsewhere; undefined when there was none, or it kept nothing. */
  readonly resumeFrom: unknown;
  readonly #outcomes: CellOutcomes;
  readonly #mail: Mail | undefined;

  constructor(outcomes: CellOutcomes, mail: Mail | undefined) {
    this.#outcomes = outcomes;
    this.#mail = mail;
    this.resumeFrom =
      mail === undefined
        ? undefined
        : (outcomes.lastCheckpoint(mail) ?? mail.extras?.unknown?.['resumeFrom']);
  }

  /** Fails with NOT_SERIALISABLE. */
  keep(partial: unknown): void {
    const mail = this.#mail;
    if (mail === undefined) return;
    const isStructured = this.#outcomes.carries(mail) === 'structured';
    this.#outcomes.checkpoint(mail, this.fraction, snapshotOf(partial, isStructured));
  }
}

/** As it is now, whatever its agent does to it afterwards, and as another thread would get it. */
function snapshotOf(partial: unknown, isStructured: boolean): unknown {
  if (isStructured) {
    try {
      return structuredClone(partial);
    } catch (error) {
      throw notSerialisable('partial', reasonOf(error));
    }
  }
  const fault = findUnserialisable(partial, 'partial');
  if (fault !== undefined) throw notSerialisable(fault.path, fault.kind);
  return JSON.parse(JSON.stringify(partial)) as unknown;
}
