import {
  chargeDeaths,
  MAIL_DATA,
  Mail,
  type MailData,
  mailFromData,
  mailToData,
  NO_ASK,
  typeIndex,
} from '../mailbox/mail.ts';
import { finishCommit } from '../mailbox/commit-log.ts';
import type { Checkpoint } from '../cell/checkpoints.ts';
import { distance, laneAt, MARK } from '../mailbox/flow-marks.ts';
import type { NamedMail } from '../mailbox/mail-names.ts';
import { isSettledAt } from '../mailbox/settled-ahead.ts';
import { COUNTER_WORDS } from '../observe/thread-counters.ts';
import type { ErrorData } from '../protocol/errors.ts';
import type { DiedOver } from '../supervision/supervisor.ts';
import type { Charge, ThreadDeath, Replay } from '../thread/control-protocol.ts';
import { CheckpointReplicas, ReplicaLedger } from './replica-ledger.ts';
import {
  type FlowWords,
  type InHand,
  overEither,
  ThreadIncarnation,
  type ThreadMemories,
} from './thread-incarnation.ts';

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
  readonly death: ThreadDeath;
}

/** An envelope that only dead threads held, and the journal: `kept` is its number there. */
export interface LostMail {
  readonly incarnation: number;
  readonly flow: number;
  readonly sequence: number;
  readonly kept: number;
}

type Names = ReadonlyMap<string, NamedMail>;

/**
 * The incarnations of all threads, and those of dead ones for as long as something that they sent or held has no known outcome.
 *
 * What a living thread sent, it sends again itself; what a dead one sent is replayed from here when the thread that
 * held it dies too, which for mail within a thread is the same death.
 */
export class IncarnationRegistry {
  readonly #living = new Map<number, ThreadIncarnation>();
  readonly #dead = new Map<number, ThreadIncarnation>();
  readonly #copies = new ReplicaLedger();
  readonly #checkpoints = new CheckpointReplicas();
  /** Counts of incarnations that are forgotten. */
  readonly #past = new Float64Array(COUNTER_WORDS);
  #next = 0;

  /** An incarnation for a new thread. */
  open(memories?: ThreadMemories): ThreadIncarnation {
    const incarnation = new ThreadIncarnation(this.#next++, memories);
    this.#living.set(incarnation.number, incarnation);
    return incarnation;
  }

  /** The thread of `incarnation` is gone: finishes its last commit. */
  retire(incarnation: ThreadIncarnation): void {
    this.#living.delete(incarnation.number);
    this.#dead.set(incarnation.number, incarnation);
    const counters = new Float64Array(incarnation.memories.counters);
    finishCommit(incarnation.memories.commitLog, counters, (of, flow) => this.#find(of)?.flow(flow));
  }

  /** What is left of a thread; undefined of one that lives, or of which nothing is open any more. */
  dead(incarnation: number): ThreadIncarnation | undefined {
    return this.#dead.get(incarnation);
  }

  isLiving(incarnation: number): boolean {
    return this.#living.has(incarnation);
  }

  /** Keeps a second copy of a mail that only one thread holds. */
  keep(incarnation: number, flow: number, mail: MailData): void {
    this.#copies.keep(incarnation, flow, mail);
  }

  /** Keeps the last checkpoint of an envelope: it outlives the thread that works on it. */
  keepCheckpoint(kept: Checkpoint): void {
    this.#checkpoints.keep(kept);
  }

  /** The checkpoints of envelopes for agents that `isThere` names by their slot. */
  checkpoints(isThere: (slot: number) => boolean): Checkpoint[] {
    return [...this.#checkpoints].filter(({ incarnation, flow }) => {
      const marks = this.#find(incarnation)?.flow(flow);
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
    const settledOf = (incarnation: number, flow: number): number | undefined =>
      this.#find(incarnation)?.settled(flow);
    this.#copies.trim(settledOf);
    this.#checkpoints.trim(settledOf);
  }

  /** The counters of all threads, added up. */
  counts(): Float64Array {
    const sum = Float64Array.from(this.#past);
    for (const { memories } of this.#living.values()) addTo(sum, new Float64Array(memories.counters));
    for (const dead of this.#dead.values()) addTo(sum, dead.lastCounts());
    return sum;
  }

  /** Envelopes that are sent and not settled, by their recipient's slot. */
  waiting(): ReadonlyMap<number, number> {
    const waiting = new Map<number, number>();
    for (const incarnation of this.#all()) {
      for (const { slot, open } of incarnation.openFlows())
        waiting.set(slot, (waiting.get(slot) ?? 0) + open);
    }
    return waiting;
  }

  /** Which agents, by their slots, have begun on an envelope without a known outcome, and what a death over it is. */
  inHand(): ReadonlyMap<number, InHand> {
    const inHand = new Map<number, InHand>();
    for (const incarnation of this.#all()) {
      for (const { slot, inHand: begun } of incarnation.openFlows()) {
        if (begun === undefined) continue;
        const other = inHand.get(slot);
        inHand.set(slot, other === undefined ? begun : overEither(other, begun));
      }
    }
    return inHand;
  }

  /** What a death over the envelope is that was begun on last in this flow. */
  begunOn({ incarnation, flow }: Charge): DiedOver | undefined {
    return this.#find(incarnation)?.lastBegun(flow);
  }

  /**
   * Marks as sent what dead threads had posted and not come to mark, although it was settled by threads that are gone as
   * well: a thread that lives does so itself. `isGone` says so of the thread that an agent had, by the agent's slot.
   */
  markSettled(isGone: (slot: number) => boolean): void {
    for (const incarnation of this.#dead.values()) {
      for (const { words, base, last } of incarnation.unmarkedFlows()) {
        if (!isGone(words[base + MARK.slot] as number)) continue;
        words[base + MARK.sent] = last;
      }
    }
  }

  /** Envelopes of dead threads without a known outcome, whose recipients `isMeant` names by their slot. */
  orphaned(isMeant: (slot: number) => boolean): number {
    let count = 0;
    for (const incarnation of this.#dead.values()) {
      for (const { slot, open } of incarnation.openFlows()) if (isMeant(slot)) count += open;
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
    for (const incarnation of this.#dead.values()) {
      for (const { flow, slot } of incarnation.openFlows()) {
        if (context.isThere(slot))
          replays.push(this.#replay(incarnation, flow, undefined, { ...context, names }));
      }
    }
    return replays;
  }

  /**
   * What a living thread did not get of what a dead one had sent to its agents, because the dead one did not come to send
   * it again after a former thread had died over it. `received` says how far each flow came.
   */
  leftovers(
    dead: ThreadIncarnation,
    received: ReadonlyMap<number, number>,
    context: ReplayContext,
  ): Replay[] {
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
    for (const { incarnation, flow, sequence, kept } of this.#names().values()) {
      const marks = kept > 0 ? this.#dead.get(incarnation)?.flow(flow) : undefined;
      if (marks === undefined || !isThere(marks.words[marks.base + MARK.slot] as number)) continue;
      const { words, base } = marks;
      const isOpen = !isSettledAt(words, base, words[base + MARK.settled] as number, sequence);
      if (isOpen && this.#copies.get(incarnation, flow, sequence) === undefined)
        lost.push({ incarnation, flow, sequence, kept });
    }
    return lost.sort((one, other) => distance(one.sequence, other.sequence));
  }

  /** Keeps what the journal had of them. */
  found(lost: readonly LostMail[], mails: readonly MailData[]): void {
    const byNumber = new Map(mails.map((mail) => [mail[MAIL_DATA.kept], mail]));
    for (const { incarnation, flow, sequence, kept } of lost) {
      const data = byNumber.get(kept);
      if (data === undefined) continue;
      const mail = mailFromData(data);
      mail.sequence = sequence;
      this.#copies.keep(incarnation, flow, mailToData(mail));
    }
  }

  /** Forgets the dead incarnations of which nothing is open any more, and that name nothing open. */
  prune(): void {
    for (const [number, incarnation] of this.#dead) {
      if (!incarnation.isSettled || incarnation.names().some((named) => this.#isOpen(named))) continue;
      addTo(this.#past, incarnation.lastCounts());
      this.#dead.delete(number);
    }
  }

  #isOpen({ incarnation, flow, sequence }: NamedMail): boolean {
    const marks = this.#find(incarnation)?.flow(flow);
    if (marks === undefined) return false;
    const { words, base } = marks;
    return !isSettledAt(words, base, words[base + MARK.settled] as number, sequence);
  }

  #names(): Names {
    const names = new Map<string, NamedMail>();
    for (const incarnation of this.#dead.values()) {
      for (const named of incarnation.names())
        names.set(nameKey(named.incarnation, named.flow, named.sequence), named);
    }
    return names;
  }

  #replay(
    incarnation: ThreadIncarnation,
    flow: number,
    received: number | undefined,
    { names, isRetry, ...context }: ReplayContext & { readonly names: Names },
  ): Replay {
    const { words, base, slab } = incarnation.flow(flow) as FlowWords;
    const settled = words[base + MARK.settled] as number;
    const after = received ?? settled;
    const started = words[base + MARK.started] as number;
    const sent = words[base + MARK.sent] as number;
    const slot = words[base + MARK.slot] as number;
    const agentId = context.idOf(slot) ?? 'unknown';
    const { charge } = context.death;
    const mails: MailData[] = [];
    for (let sequence = (after + 1) | 0; distance(sequence, sent) <= 0; sequence = (sequence + 1) | 0) {
      if (isSettledAt(words, base, settled, sequence)) continue;
      const copy = this.#copies.get(incarnation.number, flow, sequence);
      const isCutOff = distance(sequence, started) <= 0;
      if (copy === undefined || (isCutOff && !isRetry(slot, copy))) {
        const named = names.get(nameKey(incarnation.number, flow, sequence));
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
      const isCharged =
        charge?.incarnation === incarnation.number && charge.flow === flow && charge.sequence === sequence;
      const mail = isCharged ? charged(copy, { ...context.death, agentId }) : copy;
      if (isCharged) this.#copies.keep(incarnation.number, flow, mail);
      mails.push(mail);
    }
    return {
      incarnation: incarnation.number,
      flow,
      slot,
      lane: laneAt(words, base),
      slab,
      mails,
    };
  }

  #find(number: number): ThreadIncarnation | undefined {
    return this.#living.get(number) ?? this.#dead.get(number);
  }

  *#all(): Iterable<ThreadIncarnation> {
    yield* this.#living.values();
    yield* this.#dead.values();
  }
}

const nameKey = (incarnation: number, flow: number, sequence: number): string =>
  `${incarnation}/${flow}/${sequence}`;

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

function whyEnded(agentId: string, isCutOff: boolean, { reason, taint }: ThreadDeath): ErrorData {
  const [code, message] = isCutOff
    ? (['ACTOR_DIED', `${agentId} died while handling the envelope: ${reason}`] as const)
    : (['THREAD_DIED', `The thread that held this envelope for ${agentId} died: ${reason}`] as const);
  return { code, message, ...(taint && { taint }) };
}

interface TombstoneFacts {
  readonly agentId: string;
  readonly why: ErrorData;
  readonly named: NamedMail | undefined;
  readonly idOf: (slot: number) => string | undefined;
}

/** What is left of a mail without a copy: its name, if it was written down, and why nobody will handle it. */
function tombstone(sequence: number, { agentId, why, named, idOf }: TombstoneFacts): MailData {
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

function addTo(sum: Float64Array, counts: Float64Array): void {
  counts.forEach((count, at) => {
    sum[at] = (sum[at] as number) + count;
  });
}
