import type { Mail } from '../mailbox/mail.ts';
import { notSerialisable, reasonOf } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json-safety.ts';
import type { CellOutcomes } from './cell-outcomes.ts';

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
