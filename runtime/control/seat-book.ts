import { chargeDeaths } from '../mailbox/attempts.ts';
import { finishCommit } from '../mailbox/commit-log.ts';
import type { KeptCheckpoint } from '../cell/checkpoints.ts';
import { distance, MARK } from '../mailbox/flow-marks.ts';
import {
  MAIL_DATA,
  Mail,
  type MailData,
  mailFromData,
  mailToData,
  NO_ASK,
  typeIndex,
} from '../mailbox/mail.ts';
import type { NamedMail } from '../mailbox/name-book.ts';
import { COUNTER_WORDS } from '../observe/seat-counters.ts';
import type { ErrorData } from '../protocol/errors.ts';
import type { DiedOver } from '../supervision/supervisor.ts';
import { CheckpointBook } from './checkpoint-book.ts';
import type { Charge, PlaceDeath, Replay } from '../thread/lines.ts';
import { type FlowWords, Seat, type SeatMemories } from './seat.ts';
import { SecondLedger } from './second-ledger.ts';

const UNKNOWN_TYPE = typeIndex('notification');

/**
 * Whose mail is replayed, after which death.
 *
 * - `isThere` says whether the agent in a slot lives where the replay goes.
 * - `idOf`    names it.
 * - `isRetry` says whether it may be given again what it had begun on.
 */
export interface ReplayContext {
  readonly isThere: (slot: number) => boolean;
  readonly idOf: (slot: number) => string | undefined;
  readonly isRetry: (slot: number, mail: MailData) => boolean;
  readonly death: PlaceDeath;
}

/** An envelope that only dead threads held, and the journal: `kept` is its number there. */
export interface LostMail {
  readonly seat: number;
  readonly flow: number;
  readonly sequence: number;
  readonly kept: number;
}

type Names = ReadonlyMap<string, NamedMail>;

/**
 * The seats of all threads, and those of dead ones for as long as something that they sent or held has no known outcome.
 *
 * What a living thread sent, it sends again itself; what a dead one sent is replayed from here when the thread that
 * held it dies too, which for mail within a thread is the same death.
 */
export class SeatBook {
  readonly #living = new Map<number, Seat>();
  readonly #dead = new Map<number, Seat>();
  readonly #copies = new SecondLedger();
  readonly #checkpoints = new CheckpointBook();
  /** Counts of threads that are gone. */
  readonly #past = new Float64Array(COUNTER_WORDS);
  #next = 0;

  /** A seat for a new thread. */
  open(memories?: SeatMemories): Seat {
    const seat = new Seat(this.#next++, memories);
    this.#living.set(seat.number, seat);
    return seat;
  }

  /** The thread of `seat` is gone: finishes its last commit, and closes its counts. */
  bury(seat: Seat): void {
    this.#living.delete(seat.number);
    this.#dead.set(seat.number, seat);
    const counters = new Float64Array(seat.memories.counters);
    finishCommit(seat.memories.commitLog, counters, (of, flow) => this.#find(of)?.flow(flow));
    counters.forEach((value, at) => {
      this.#past[at] = (this.#past[at] as number) + value;
    });
  }

  /** What is left of a thread; undefined of one that lives, or of which nothing is open any more. */
  dead(seat: number): Seat | undefined {
    return this.#dead.get(seat);
  }

  isLiving(seat: number): boolean {
    return this.#living.has(seat);
  }

  /** Keeps a second copy of a mail that only one thread holds. */
  keep(seat: number, flow: number, mail: MailData): void {
    this.#copies.keep(seat, flow, mail);
  }

  /** Keeps the last checkpoint of an envelope: it outlives the thread that works on it. */
  keepCheckpoint(kept: KeptCheckpoint): void {
    this.#checkpoints.keep(kept);
  }

  /** The checkpoints of envelopes for agents that `isThere` names by their slot. */
  checkpoints(isThere: (slot: number) => boolean): KeptCheckpoint[] {
    return [...this.#checkpoints].filter(({ seat, flow }) => {
      const marks = this.#find(seat)?.flow(flow);
      return marks !== undefined && isThere(marks.words[marks.base + MARK.slot] as number);
    });
  }

  /** The accounts of the mails of which there are second copies. */
  *heldAccounts(): Iterable<number> {
    for (const mail of this.#copies) {
      const account = mail[MAIL_DATA.extras]?.account;
      if (account !== undefined) yield account;
    }
  }

  /** Lets go of second copies and checkpoints of what is settled. */
  trim(): void {
    const settledOf = (seat: number, flow: number): number | undefined => this.#find(seat)?.settled(flow);
    this.#copies.trim(settledOf);
    this.#checkpoints.trim(settledOf);
  }

  /** The counters of all threads, added up. */
  counts(): Float64Array {
    const sum = Float64Array.from(this.#past);
    for (const { memories } of this.#living.values()) {
      new Float64Array(memories.counters).forEach((value, at) => {
        sum[at] = (sum[at] as number) + value;
      });
    }
    return sum;
  }

  /** Envelopes that are sent and not settled, by their recipient's slot. */
  waiting(): ReadonlyMap<number, number> {
    const waiting = new Map<number, number>();
    for (const seat of this.#all()) {
      for (const { slot, open } of seat.openFlows()) waiting.set(slot, (waiting.get(slot) ?? 0) + open);
    }
    return waiting;
  }

  /** Which agents, by their slots, have begun on an envelope without a known outcome, and what a death over it is. */
  inHand(): ReadonlyMap<number, DiedOver> {
    const inHand = new Map<number, DiedOver>();
    for (const seat of this.#all())
      for (const { slot, inHand: begun } of seat.openFlows())
        if (begun !== undefined) inHand.set(slot, begun);
    return inHand;
  }

  /** What a death over the envelope is that was begun on last in this flow. */
  begunOn({ seat, flow }: Charge): DiedOver | undefined {
    return this.#find(seat)?.lastBegun(flow);
  }

  /** Envelopes of dead threads without a known outcome, whose recipients `isMeant` names by their slot. */
  orphaned(isMeant: (slot: number) => boolean): number {
    let count = 0;
    for (const seat of this.#dead.values()) {
      for (const { slot, open } of seat.openFlows()) if (isMeant(slot)) count += open;
    }
    return count;
  }

  /**
   * What a new thread is given of the mail that its agents' dead thread held: second copies of what is to be tried, and
   * a tombstone with its reason for everything else.
   */
  replays(context: ReplayContext): Replay[] {
    const names = this.#names();
    const replays: Replay[] = [];
    for (const seat of this.#dead.values()) {
      for (const { flow, slot } of seat.openFlows()) {
        if (context.isThere(slot)) replays.push(this.#replay(seat, flow, undefined, { ...context, names }));
      }
    }
    return replays;
  }

  /**
   * What a living thread did not get of what a dead one had sent to its agents, because the dead one did not come to send
   * it again after a former thread had died over it. `received` says how far each flow came.
   */
  leftovers(dead: Seat, received: ReadonlyMap<number, number>, context: ReplayContext): Replay[] {
    const names = this.#names();
    const replays: Replay[] = [];
    for (const { flow, slot } of dead.openFlows()) {
      if (!context.isThere(slot)) continue;
      const replay = this.#replay(dead, flow, received.get(flow), { ...context, names });
      if (replay.mails.length > 0) replays.push(replay);
    }
    return replays;
  }

  /** What only the journal has of what dead threads sent to agents that `isThere` names by their slot. */
  lost(isThere: (slot: number) => boolean): LostMail[] {
    const lost: LostMail[] = [];
    for (const { seat, flow, sequence, kept } of this.#names().values()) {
      const marks = kept > 0 ? this.#dead.get(seat)?.flow(flow) : undefined;
      if (marks === undefined || !isThere(marks.words[marks.base + MARK.slot] as number)) continue;
      const isOpen = distance(sequence, marks.words[marks.base + MARK.settled] as number) > 0;
      if (isOpen && this.#copies.get(seat, flow, sequence) === undefined)
        lost.push({ seat, flow, sequence, kept });
    }
    return lost.sort((one, other) => distance(one.sequence, other.sequence));
  }

  /** Keeps what the journal had of them. */
  found(lost: readonly LostMail[], mails: readonly MailData[]): void {
    const byNumber = new Map(mails.map((mail) => [mail[MAIL_DATA.kept], mail]));
    for (const { seat, flow, sequence, kept } of lost) {
      const data = byNumber.get(kept);
      if (data === undefined) continue;
      const mail = mailFromData(data);
      mail.sequence = sequence;
      this.#copies.keep(seat, flow, mailToData(mail));
    }
  }

  /** Forgets the dead seats of which nothing is open any more, and that name nothing open. */
  prune(): void {
    for (const [number, seat] of this.#dead) {
      if (seat.isSettled && !seat.names().some((named) => this.#isOpen(named))) this.#dead.delete(number);
    }
  }

  #isOpen({ seat, flow, sequence }: NamedMail): boolean {
    const settled = this.#find(seat)?.settled(flow);
    return settled !== undefined && distance(sequence, settled) > 0;
  }

  #names(): Names {
    const names = new Map<string, NamedMail>();
    for (const seat of this.#dead.values()) {
      for (const named of seat.names()) names.set(nameKey(named.seat, named.flow, named.sequence), named);
    }
    return names;
  }

  #replay(
    seat: Seat,
    flow: number,
    received: number | undefined,
    { names, isRetry, ...context }: ReplayContext & { readonly names: Names },
  ): Replay {
    const { words, base, slab } = seat.flow(flow) as FlowWords;
    const after = received ?? (words[base + MARK.settled] as number);
    const started = words[base + MARK.started] as number;
    const sent = words[base + MARK.sent] as number;
    const slot = words[base + MARK.slot] as number;
    const agentId = context.idOf(slot) ?? 'unknown';
    const { charge } = context.death;
    const mails: MailData[] = [];
    for (let sequence = (after + 1) | 0; distance(sequence, sent) <= 0; sequence = (sequence + 1) | 0) {
      const copy = this.#copies.get(seat.number, flow, sequence);
      const isCutOff = distance(sequence, started) <= 0;
      if (copy === undefined || (isCutOff && !isRetry(slot, copy))) {
        const named = names.get(nameKey(seat.number, flow, sequence));
        // Without a copy and even a name, everything died with its thread: that is what there is to say.
        const isKnown = copy !== undefined || named !== undefined;
        const why = whyEnded(agentId, isKnown && isCutOff, context.death);
        mails.push(
          copy === undefined
            ? tombstone(sequence, { agentId, why, named, idOf: context.idOf })
            : ended(copy, why),
        );
        continue;
      }
      const isCharged = charge?.seat === seat.number && charge.flow === flow && charge.sequence === sequence;
      const mail = isCharged ? charged(copy, { ...context.death, agentId }) : copy;
      if (isCharged) this.#copies.keep(seat.number, flow, mail);
      mails.push(mail);
    }
    return { seat: seat.number, flow, slot, lane: words[base + MARK.lane] as number, slab, mails };
  }

  #find(number: number): Seat | undefined {
    return this.#living.get(number) ?? this.#dead.get(number);
  }

  *#all(): Iterable<Seat> {
    yield* this.#living.values();
    yield* this.#dead.values();
  }
}

const nameKey = (seat: number, flow: number, sequence: number): string => `${seat}/${flow}/${sequence}`;

function charged(copy: MailData, death: Parameters<typeof chargeDeaths>[2]): MailData {
  const mail = mailFromData(copy);
  chargeDeaths(mail, mail.attempts + 1, death);
  return mailToData(mail);
}

function ended(copy: MailData, why: ErrorData): MailData {
  const mail = mailFromData(copy);
  mail.tombstone ??= why;
  return mailToData(mail);
}

function whyEnded(agentId: string, isCutOff: boolean, { reason, taint }: PlaceDeath): ErrorData {
  const [code, message] = isCutOff
    ? (['ACTOR_DIED', `${agentId} died while handling the envelope: ${reason}`] as const)
    : (['THREAD_DIED', `The thread that held this envelope for ${agentId} died: ${reason}`] as const);
  return { code, message, ...(taint && { taint }) };
}

interface Epitaph {
  readonly agentId: string;
  readonly why: ErrorData;
  readonly named: NamedMail | undefined;
  readonly idOf: (slot: number) => string | undefined;
}

/** What is left of a mail without a copy: its name, if it was written down, and why nobody will handle it. */
function tombstone(sequence: number, { agentId, why, named, idOf }: Epitaph): MailData {
  const sender = named === undefined || named.senderSlot < 0 ? undefined : idOf(named.senderSlot);
  const mail = new Mail(
    named?.id ?? '',
    '',
    named?.type ?? UNKNOWN_TYPE,
    sender ?? 'unknown',
    agentId,
    undefined,
    0,
    null,
    undefined,
    0,
    NO_ASK,
    undefined,
    undefined,
  );
  mail.sequence = sequence;
  mail.kept = named?.kept ?? 0;
  mail.tombstone = why;
  return mailToData(mail);
}
