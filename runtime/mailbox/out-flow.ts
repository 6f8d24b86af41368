import { Fifo } from './fifo.ts';
import type { CommitLog } from './commit-log.ts';
import { distance, MARK, openWindow } from './flow-marks.ts';
import { InFlow } from './in-flow.ts';
import type { Lane, Mail } from './mail.ts';
import { countAhead, isSettledAt } from './settled-ahead.ts';

const TRIM_EVERY = 16;

/** What a dead recipient's thread did with an unsettled entry: did not begin on it, or was cut off. */
export type Fate = 'untouched' | 'cut-off';

/**
 * The sender's end of a flow: numbers mail, and keeps it until it is settled (the ledger).
 *
 * A flow inside one thread keeps nothing: there the mailbox is the ledger.
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
  /** Whether the recipient's place knows this flow. */
  isIntroduced = false;
  isDirty = false;
  /** Whether its recipient handles several at once, and may settle them in any order. */
  isWindowed = false;
  /** How many of a local flow are sent and not committed. */
  uncommitted = 0;
  /** How many are accepted and wait for the journal; they are numbered when it has them. */
  pending = 0;
  /** Called with each mail that the ledger drops because it is settled. */
  onSettled: ((mail: Mail) => void) | undefined = undefined;
  #inbound: InFlow | undefined;
  /**
   * The settled mark as last read here. The recipient writes to the same cache line all the time: reading it for each envelope
   * would cost more than the rest of this class.
   */
  #settled: number;
  #marked: number;
  /** Whether some of the mail that it keeps may have names to erase. */
  #hasNames = false;
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
    this.#settled = words[base + MARK.settled] as number;
    this.#marked = words[base + MARK.sent] as number;
  }

  /** The recipient's end of a flow within one thread. */
  get inbound(): InFlow {
    this.#inbound ??= new InFlow(-1, this.flow, this.slot, this.lane, this.words, this.base);
    return this.#inbound;
  }

  /** How many of this flow have no known outcome yet. */
  get unsettled(): number {
    this.#settled = this.words[this.base + MARK.settled] as number;
    return distance(this.sent, this.#settled) - this.#ahead;
  }

  /** Says whether fewer than `capacity` of this flow are accepted and have no known outcome yet. */
  hasRoom(capacity: number): boolean {
    const most = distance(this.sent, this.#settled) + this.pending;
    return most < capacity || this.unsettled + this.pending < capacity;
  }

  /** Says whether the outcome of `sequence` is known. */
  isSettled(sequence: number): boolean {
    const { words, base } = this;
    return isSettledAt(words, base, words[base + MARK.settled] as number, sequence);
  }

  /** Lets the recipient note outcomes ahead of older ones; there is room for them behind the record. */
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
    // Only what the journal keeps is named.
    if (mail.kept > 0 || mail.name >= 0) this.#hasNames = true;
    this.#entries.push(mail);
    if ((this.sent & (TRIM_EVERY - 1)) === 0) this.trim();
  }

  /** Notes in `log` what was sent within the thread; returns how many envelopes that were. */
  commit(log: CommitLog, ownIncarnation: number): number {
    const count = this.uncommitted;
    this.uncommitted = 0;
    this.isDirty = false;
    log.note(ownIncarnation, this.flow, this.words, MARK.sent, this.sent);
    return count;
  }

  /** Marks everything up to `sequence` as sent; false if it was marked before. */
  mark(sequence: number): boolean {
    if (distance(sequence, this.#marked) <= 0) return false;
    this.#marked = sequence;
    this.words[this.base + MARK.sent] = sequence;
    return true;
  }

  /** Drops what is settled up to the mark; returns how many are not settled. */
  trim(): number {
    const settled = this.words[this.base + MARK.settled] as number;
    this.#settled = settled;
    const entries = this.#entries;
    // Sequences are dense, so dropped mail need not be read: it is in no cache any more.
    const left = Math.max(0, distance(this.sent, settled));
    while (entries.length > left) {
      const settledMail = entries.shift() as Mail;
      if (this.#hasNames && settledMail.name >= 0) this.onSettled?.(settledMail);
    }
    return entries.length - this.#ahead;
  }

  /** Every unsettled entry, oldest first, with its fate by the marks. */
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
