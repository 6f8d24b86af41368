import { Fifo } from './fifo.ts';
import type { CommitLog } from './commit-log.ts';
import { distance, MARK, openWindow } from './flow-marks.ts';
import { InFlow } from './in-flow.ts';
import type { Lane, Mail } from './mail.ts';
import { countAhead, isSettledAt } from './settled-ahead.ts';

const TRIM_EVERY = 16;

/** What became of an unsettled entry of a flow whose recipient's thread died. */
export type Fate = 'untouched' | 'cut-off';

/**
 * The sender's end of a flow: numbers what it sends and keeps it until it is settled (the ledger).
 *
 * A flow inside one thread keeps nothing here: there the mailbox is the ledger.
 */
export class OutFlow {
  readonly flow: number;
  readonly slot: number;
  readonly lane: Lane;
  readonly words: Int32Array;
  readonly base: number;
  readonly isLocal: boolean;
  /** Last sequence given out. */
  sent = 0;
  /** The place it goes to knows this flow. */
  isIntroduced = false;
  isDirty = false;
  /** Its recipient handles several at once, and may settle them in any order. */
  isWindowed = false;
  /** Sent but not committed; of a local flow. */
  uncommitted = 0;
  /** Accepted, but not numbered before the journal has them. */
  pending = 0;
  /** Told of each that is let go of, since its outcome is known. */
  onSettled: ((mail: Mail) => void) | undefined = undefined;
  #inbound: InFlow | undefined;
  readonly #entries = new Fifo<Mail>();

  constructor(flow: number, slot: number, lane: Lane, words: Int32Array, base: number, isLocal: boolean) {
    this.flow = flow;
    this.slot = slot;
    this.lane = lane;
    this.words = words;
    this.base = base;
    this.isLocal = isLocal;
    words[base + MARK.slot] = slot;
    words[base + MARK.lane] = lane;
  }

  /** The recipient's end of a flow within one thread. */
  get inbound(): InFlow {
    this.#inbound ??= new InFlow(-1, this.flow, this.slot, this.lane, this.words, this.base);
    return this.#inbound;
  }

  /** How many of this flow have no known outcome yet. */
  get unsettled(): number {
    return distance(this.sent, this.words[this.base + MARK.settled] as number) - this.#ahead;
  }

  /** What is settled may be noted before older ones are; behind the record is room for that. */
  openWindow(): void {
    this.isWindowed = true;
    openWindow(this.words, this.base);
  }

  get #ahead(): number {
    return this.isWindowed ? countAhead(this.words, this.base) : 0;
  }

  /** Numbers `mail` and, unless the flow is local, keeps it. */
  add(mail: Mail): void {
    this.sent = (this.sent + 1) | 0;
    mail.sequence = this.sent;
    if (this.isLocal) return;
    this.#entries.push(mail);
    if ((this.sent & (TRIM_EVERY - 1)) === 0) this.trim();
  }

  /** Notes in `log` what was sent within the thread; returns how many that were. */
  commit(log: CommitLog, ownIncarnation: number): number {
    const count = this.uncommitted;
    this.uncommitted = 0;
    this.isDirty = false;
    log.note(ownIncarnation, this.flow, this.words, MARK.sent, this.sent);
    return count;
  }

  /** Marks what has left this thread; false when it had been marked before. */
  mark(sequence: number): boolean {
    const at = this.base + MARK.sent;
    if (distance(sequence, this.words[at] as number) <= 0) return false;
    this.words[at] = sequence;
    return true;
  }

  /** Lets go of what is settled up to the mark; returns how many are not settled. */
  trim(): number {
    const settled = this.words[this.base + MARK.settled] as number;
    const entries = this.#entries;
    for (let first = entries.peek(); first !== undefined; first = entries.peek()) {
      if (distance(first.sequence, settled) > 0) break;
      entries.shift();
      if (first.name >= 0) this.onSettled?.(first);
    }
    return entries.length - this.#ahead;
  }

  /** Every unsettled entry, oldest first, with what the marks say of it. */
  unsettledEntries(): { mail: Mail; fate: Fate }[] {
    this.trim();
    const { words, base } = this;
    const started = words[base + MARK.started] as number;
    const settled = words[base + MARK.settled] as number;
    const unsettled: { mail: Mail; fate: Fate }[] = [];
    for (let at = 0; at < this.#entries.length; at++) {
      const mail = this.#entries.at(at) as Mail;
      if (isSettledAt(words, base, settled, mail.sequence)) continue;
      unsettled.push({ mail, fate: distance(mail.sequence, started) <= 0 ? 'cut-off' : 'untouched' });
    }
    return unsettled;
  }
}
