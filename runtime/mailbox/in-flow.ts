import type { Outcome } from '../protocol/system-event.ts';
import type { CommitLog } from './commit-log.ts';
import { distance, MARK } from './flow-marks.ts';
import type { Lane } from './mail.ts';
import type { Outsider, OutsiderKey } from './behalf.ts';

const NOBODY: OutsiderKey = [0, 0];

/** How many envelopes ended in each way. */
export interface OutcomeCounts {
  handled: number;
  rejected: number;
  expired: number;
  deadLettered: number;
}

/**
 * The recipient's end of a flow: what came in, and which outcomes are known but not committed yet.
 *
 * Outcomes are committed in batches, after everything that the handlers sent has been posted: see `commit`.
 */
export class InFlow {
  /** Who sends: the incarnation of its thread, -1 for this thread itself. */
  readonly incarnation: number;
  readonly flow: number;
  readonly slot: number;
  readonly lane: Lane;
  readonly words: Int32Array;
  readonly base: number;
  /** Last sequence that came in. */
  received: number;
  /** Last sequence up to which every outcome is known. */
  settled: number;
  isDirty = false;
  #rejected = 0;
  #expired = 0;
  #deadLettered = 0;
  #ahead: Map<number, Outcome> | undefined;

  constructor(incarnation: number, flow: number, slot: number, lane: Lane, words: Int32Array, base: number) {
    this.incarnation = incarnation;
    this.flow = flow;
    this.slot = slot;
    this.lane = lane;
    this.words = words;
    this.base = base;
    this.settled = words[base + MARK.settled] ?? 0;
    this.received = this.settled;
  }

  /** Marks the handling of `sequence` as begun; from here on its death is told, not repeated. */
  start(sequence: number): void {
    const at = this.base + MARK.started;
    if (distance(sequence, this.words[at] as number) > 0) this.words[at] = sequence;
  }

  /** Notes who outside caused what is begun on now, if somebody did, and whether it was begun on before. */
  blame(outsider: Outsider | undefined, isAgain: boolean): void {
    const { words, base } = this;
    const [first, second] = outsider?.key ?? NOBODY;
    if (words[base + MARK.outsiderMore] !== second || words[base + MARK.outsider] !== first) {
      words[base + MARK.outsider] = first;
      words[base + MARK.outsiderMore] = second;
    }
    const again = isAgain ? 1 : 0;
    if (words[base + MARK.isAgain] !== again) words[base + MARK.isAgain] = again;
  }

  /** Notes the outcome of `sequence`. A call-back may settle before an older one of its lane. */
  settle(sequence: number, outcome: Outcome): void {
    if (sequence === ((this.settled + 1) | 0)) {
      this.settled = sequence;
      if (outcome !== 'handled') this.#count(outcome);
      if (this.#ahead !== undefined) this.#closeRanks(this.#ahead);
      return;
    }
    this.#ahead ??= new Map();
    this.#ahead.set(sequence, outcome);
  }

  /** Notes in `log` what is settled, and adds it to `added` by outcome. */
  commit(log: CommitLog, ownIncarnation: number, added: OutcomeCounts): void {
    const { words, base, settled } = this;
    const count = (settled - (words[base + MARK.settled] as number)) | 0;
    log.note(
      this.incarnation < 0 ? ownIncarnation : this.incarnation,
      this.flow,
      words,
      MARK.settled,
      settled,
    );
    added.handled += count - this.#rejected - this.#expired - this.#deadLettered;
    added.rejected += this.#rejected;
    added.expired += this.#expired;
    added.deadLettered += this.#deadLettered;
    this.#rejected = 0;
    this.#expired = 0;
    this.#deadLettered = 0;
    this.isDirty = false;
  }

  /** Outcomes that are known and not committed. */
  get uncommitted(): number {
    return distance(this.settled, this.words[this.base + MARK.settled] as number) + (this.#ahead?.size ?? 0);
  }

  /** Everything that came in has a committed outcome. */
  get isSettled(): boolean {
    return this.words[this.base + MARK.settled] === this.received;
  }

  #count(outcome: Outcome): void {
    if (outcome === 'rejected') this.#rejected += 1;
    else if (outcome === 'expired') this.#expired += 1;
    else this.#deadLettered += 1;
  }

  #closeRanks(ahead: Map<number, Outcome>): void {
    for (let next = (this.settled + 1) | 0; ; next = (next + 1) | 0) {
      const outcome = ahead.get(next);
      if (outcome === undefined) break;
      ahead.delete(next);
      this.settled = next;
      if (outcome !== 'handled') this.#count(outcome);
    }
    if (ahead.size === 0) this.#ahead = undefined;
  }
}
