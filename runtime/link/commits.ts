import { CommitLog } from '../mailbox/commit-log.ts';
import type { InFlow, OutcomeCounts } from '../mailbox/in-flow.ts';
import type { OutFlow } from '../mailbox/out-flow.ts';
import { COUNT } from '../observe/thread-counters.ts';

/**
 * - `memory` of the commit log, which outlives the thread.
 * - `log`    posts what the next commit counts, and returns the number up to which that was told.
 */
export interface CommitsDeps {
  readonly place: { readonly incarnation: number; readonly counters: Float64Array };
  readonly memory: SharedArrayBuffer;
  readonly log: { tell(): number };
}

/** Commits the work of one thread: mail that it accepted for itself, and outcomes of mail that it was given. */
export class Commits {
  readonly #incarnation: number;
  readonly #counters: Float64Array;
  readonly #log: CommitLog;
  readonly #reports: CommitsDeps['log'];
  #accepted: OutFlow[] = [];
  #settled: InFlow[] = [];
  #told = 0;

  constructor({ place, memory, log }: CommitsDeps) {
    this.#incarnation = place.incarnation;
    this.#counters = place.counters;
    this.#log = new CommitLog(memory);
    this.#reports = log;
  }

  /** Notes that one more mail is accepted on a flow within the thread. */
  accepted(flow: OutFlow): void {
    flow.uncommitted += 1;
    if (flow.isDirty) return;
    flow.isDirty = true;
    this.#accepted.push(flow);
  }

  /** Notes that the flow has outcomes; false if that was noted before. */
  settled(flow: InFlow): boolean {
    if (flow.isDirty) return false;
    flow.isDirty = true;
    this.#settled.push(flow);
    return true;
  }

  /** Marks a mail as sent whose place has no thread: it is not posted, but the control thread has a copy. */
  markHeld(flow: OutFlow, sequence: number): void {
    if (flow.mark(sequence)) this.#counters[COUNT.accepted] = (this.#counters[COUNT.accepted] as number) + 1;
  }

  /**
   * Commits everything, after the control thread was told of it: in one step, unless there are thousands of marks. Returns
   * whether there were outcomes.
   */
  commit(): boolean {
    const told = this.#reports.tell();
    const accepted = this.#accepted;
    const settled = this.#settled;
    if (accepted.length === 0 && settled.length === 0 && told <= this.#told) return false;
    this.#told = told;
    this.#accepted = [];
    this.#settled = [];
    const added = { accepted: 0, handled: 0, rejected: 0, expired: 0, deadLettered: 0 };
    for (const flow of accepted) {
      if (this.#log.isFull) this.#apply(added);
      added.accepted += flow.commit(this.#log, this.#incarnation);
    }
    for (const flow of settled) {
      if (this.#log.isFull) this.#apply(added);
      flow.commit(this.#log, this.#incarnation, added);
    }
    this.#apply(added);
    return settled.length > 0;
  }

  #apply(added: OutcomeCounts & { accepted: number }): void {
    const { accepted, handled, rejected, expired, deadLettered } = added;
    this.#log.commit(this.#counters, [accepted, handled, rejected, expired, deadLettered], this.#told);
    Object.assign(added, { accepted: 0, handled: 0, rejected: 0, expired: 0, deadLettered: 0 });
  }
}
