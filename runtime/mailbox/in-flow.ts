import type { Outcome } from '../protocol/system-event.ts';
import type { CommitLog } from './commit-log.ts';
import { distance, hasWindow, MARK } from './flow-marks.ts';
import type { Lane } from './mail.ts';
import type { Outsider } from './behalf.ts';
import { CommonOutsider, NOBODY } from './common-outsider.ts';
import { SettledAhead, WINDOW } from './settled-ahead.ts';

/** How many envelopes ended in each way. */
export interface OutcomeCounts {
  handled: number;
  rejected: number;
  expired: number;
  deadLettered: number;
}

/**
 * The recipient's end of a flow: counts what came in, and notes outcomes that are not committed yet.
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
  /** Outcomes ahead of the mark, as they outlive this thread; only if the recipient handles several at once. */
  readonly #window: SettledAhead | undefined;
  readonly #inCommon: CommonOutsider | undefined;
  /** How many up to `settled` a former commit has counted. */
  #counted = 0;

  constructor(incarnation: number, flow: number, slot: number, lane: Lane, words: Int32Array, base: number) {
    this.incarnation = incarnation;
    this.flow = flow;
    this.slot = slot;
    this.lane = lane;
    this.words = words;
    this.base = base;
    this.settled = words[base + MARK.settled] ?? 0;
    this.received = this.settled;
    if (!hasWindow(words, base)) return;
    this.#window = new SettledAhead(words, base, flow);
    this.#inCommon = new CommonOutsider(words, base);
    for (let beyond = 1; beyond <= WINDOW && this.#window.noted > (this.#ahead?.size ?? 0); beyond++) {
      const sequence = (this.settled + beyond) | 0;
      if (this.#window.has(sequence)) this.#keepAhead(sequence, 'handled');
    }
  }

  /** The sequence of what comes in next. It skips what was settled ahead when a former thread died: that does not come again. */
  receive(): number {
    const window = this.#window;
    if (window === undefined) this.received = (this.received + 1) | 0;
    else {
      if (distance(this.settled, this.received) > 0) this.received = this.settled;
      do this.received = (this.received + 1) | 0;
      while (distance(this.received, this.settled) <= WINDOW && window.has(this.received));
    }
    return this.received;
  }

  /** Says whether `sequence` may be begun on while others are in hand, because its outcome could be noted before theirs. */
  mayBegin(sequence: number): boolean {
    return distance(sequence, this.settled) <= (this.#window === undefined ? 1 : WINDOW);
  }

  /** Marks the handling of `sequence` as begun. If it dies from now on, its sender is told; it is not repeated. */
  start(sequence: number): void {
    const at = this.base + MARK.started;
    if (distance(sequence, this.words[at] as number) > 0) this.words[at] = sequence;
  }

  /** Notes which outsider, if any, caused `sequence`, which is begun on now, and whether it was begun on before. */
  blame(sequence: number, outsider: Outsider | undefined, isAgain: boolean): void {
    const { words, base } = this;
    const key = outsider?.key ?? NOBODY;
    const [first, second] = key;
    this.#inCommon?.begin(sequence, key, isAgain);
    if (words[base + MARK.outsiderMore] !== second || words[base + MARK.outsider] !== first) {
      words[base + MARK.outsider] = first;
      words[base + MARK.outsiderMore] = second;
    }
    const again = isAgain ? 1 : 0;
    if (words[base + MARK.isAgain] !== again) words[base + MARK.isAgain] = again;
  }

  /** Notes the outcome of `sequence`. It may be known before that of an older one. */
  settle(sequence: number, outcome: Outcome): void {
    this.#inCommon?.end(sequence);
    if (sequence === ((this.settled + 1) | 0)) {
      this.settled = sequence;
      if (outcome !== 'handled') this.#count(outcome);
      if (this.#ahead !== undefined) this.#closeRanks(this.#ahead);
      return;
    }
    this.#keepAhead(sequence, outcome);
    this.#window?.add(sequence);
  }

  #keepAhead(sequence: number, outcome: Outcome): void {
    this.#ahead ??= new Map();
    this.#ahead.set(sequence, outcome);
  }

  /** Notes in `log` what is settled, and adds it to `added` by outcome. */
  commit(log: CommitLog, ownIncarnation: number, added: OutcomeCounts): void {
    const { words, base, settled } = this;
    const count = ((settled - (words[base + MARK.settled] as number)) | 0) - this.#counted;
    const incarnation = this.incarnation < 0 ? ownIncarnation : this.incarnation;
    log.note(incarnation, this.flow, words, MARK.settled, settled);
    added.handled += count - this.#rejected - this.#expired - this.#deadLettered;
    this.#window?.commit(log, incarnation, settled, (sequence) => {
      const outcome = this.#ahead?.get(sequence) as Outcome;
      if (outcome === 'handled') added.handled += 1;
      else this.#count(outcome);
    });
    added.rejected += this.#rejected;
    added.expired += this.#expired;
    added.deadLettered += this.#deadLettered;
    this.#rejected = 0;
    this.#expired = 0;
    this.#deadLettered = 0;
    this.#counted = 0;
    this.isDirty = false;
  }

  /** Outcomes that are known and not committed. */
  get uncommitted(): number {
    const passed = distance(this.settled, this.words[this.base + MARK.settled] as number) - this.#counted;
    return passed + (this.#ahead?.size ?? 0) - (this.#window?.noted ?? 0);
  }

  /** Whether everything that came in has a committed outcome. */
  get isSettled(): boolean {
    return distance(this.received, this.words[this.base + MARK.settled] as number) <= 0;
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
      if (this.#window?.pass(next) === true) this.#counted += 1;
      else if (outcome !== 'handled') this.#count(outcome);
    }
    if (ahead.size === 0) this.#ahead = undefined;
  }
}
