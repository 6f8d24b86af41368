import { newCommitLogMemory } from '../mailbox/commit-log.ts';
import { distance, FLOWS_PER_SLAB, MARK, MARK_WORDS } from '../mailbox/flow-marks.ts';
import { Mail, type MailData, mailFromData, mailToData, NO_ASK } from '../mailbox/mail.ts';
import { type NamedMail, readNames } from '../mailbox/name-book.ts';
import { newCounters } from '../observe/seat-counters.ts';
import type { ErrorData } from '../protocol/errors.ts';
import type { Charge, Replay } from './lines.ts';
import { newStatusMemory, STATUS } from './status-words.ts';

/** What is known of a flow's recipient when its mail is replayed. */
export interface ReplayContext {
  readonly agentId: string;
  readonly reason: string;
  readonly charge: Charge | undefined;
  /** The id of the agent in a slot. */
  readonly idOf: (slot: number) => string | undefined;
}

/** The memories that a seat is made with, when they exist before it. */
export interface SeatMemories {
  readonly counters: SharedArrayBuffer;
  readonly status: SharedArrayBuffer;
  readonly commitLog: SharedArrayBuffer;
}

export const newSeatMemories = (): SeatMemories => ({
  counters: newCounters(),
  status: newStatusMemory(),
  commitLog: newCommitLogMemory(),
});

/**
 * One thread's time in a place: the memories that it shares, kept here because they outlive it.
 *
 * A place whose thread is replaced gets a new seat, so that nothing which a dead thread left behind can be mistaken for
 * its successor's.
 */
export class Seat {
  readonly number: number;
  readonly memories: SeatMemories;
  readonly #slabs: Int32Array[] = [];
  readonly #memories: SharedArrayBuffer[] = [];
  readonly #nameSlabs: SharedArrayBuffer[] = [];
  /** Second copies, by seat and flow. */
  readonly #kept = new Map<string, Mail[]>();

  constructor(number: number, memories: SeatMemories = newSeatMemories()) {
    this.number = number;
    this.memories = memories;
  }

  addFlowSlab(index: number, memory: SharedArrayBuffer): void {
    this.#memories[index] = memory;
    this.#slabs[index] = new Int32Array(memory);
  }

  addNameSlab(memory: SharedArrayBuffer): void {
    this.#nameSlabs.push(memory);
  }

  /** Keeps a second copy of a mail that only this seat's thread holds. */
  keep(seat: number, flow: number, data: MailData): void {
    const key = `${seat}/${flow}`;
    const mails = this.#kept.get(key) ?? [];
    mails.push(mailFromData(data));
    this.#kept.set(key, mails);
  }

  /** Lets go of second copies that are settled; `wordsOf` finds the marks of any seat. */
  trim(wordsOf: (seat: number, flow: number) => FlowWords | undefined): void {
    for (const [key, mails] of this.#kept) {
      const [seat, flow] = key.split('/').map(Number) as [number, number];
      const marks = wordsOf(seat, flow);
      if (marks === undefined) {
        this.#kept.delete(key);
        continue;
      }
      const settled = marks.words[marks.base + MARK.settled] as number;
      const rest = mails.filter((mail) => distance(mail.sequence, settled) > 0);
      if (rest.length === 0) this.#kept.delete(key);
      else if (rest.length < mails.length) this.#kept.set(key, rest);
    }
  }

  kept(seat: number, flow: number): readonly Mail[] {
    return this.#kept.get(`${seat}/${flow}`) ?? [];
  }

  names(): NamedMail[] {
    return this.#nameSlabs.flatMap(readNames);
  }

  /** What the thread had in its hands when it was last seen; undefined when no agent's code ran. */
  get inHand(): { readonly slot: number; readonly charge: Charge | undefined } | undefined {
    const words = new Int32Array(this.memories.status);
    const current = words[STATUS.current] as number;
    if (current === 0) return undefined;
    const seat = words[STATUS.seat] as number;
    const flow = words[STATUS.flow] as number;
    const sequence = words[STATUS.sequence] as number;
    return { slot: current - 1, charge: seat < 0 ? undefined : { seat, flow, sequence } };
  }

  get beat(): number {
    return new Int32Array(this.memories.status)[STATUS.beat] as number;
  }

  flow(number: number): FlowWords | undefined {
    const words = this.#slabs[Math.floor(number / FLOWS_PER_SLAB)];
    return words === undefined ? undefined : { words, base: (number % FLOWS_PER_SLAB) * MARK_WORDS };
  }

  /** Every flow that has been used. */
  *flows(): Iterable<FlowWords & { readonly flow: number; readonly slab: SharedArrayBuffer }> {
    for (const [index, words] of this.#slabs.entries()) {
      for (let at = 0; at < FLOWS_PER_SLAB; at++) {
        const base = at * MARK_WORDS;
        if (words[base + MARK.sent] === 0 && words[base + MARK.started] === 0) continue;
        const slab = this.#memories[index] as SharedArrayBuffer;
        yield { words, base, flow: index * FLOWS_PER_SLAB + at, slab };
      }
    }
  }

  /** Adds, for each agent's slot, the envelopes that are sent and not settled, as the marks say. */
  addWaiting(bySlot: Map<number, number>): void {
    for (const { words, base } of this.flows()) {
      const slot = words[base + MARK.slot] as number;
      bySlot.set(slot, (bySlot.get(slot) ?? 0) + unsettled(words, base));
    }
  }

  /** Says whether the agent has something in hand that came over this seat's flows. */
  hasStarted(slot: number): boolean {
    for (const { words, base } of this.flows()) {
      if (words[base + MARK.slot] !== slot) continue;
      if (distance(words[base + MARK.started] as number, words[base + MARK.settled] as number) > 0) return true;
    }
    return false;
  }

  *unsettledFlows(): Iterable<{ readonly flow: number; readonly slot: number }> {
    for (const { words, base, flow } of this.flows()) {
      if (unsettled(words, base) > 0) yield { flow, slot: words[base + MARK.slot] as number };
    }
  }

  get isSettled(): boolean {
    for (const { words, base } of this.flows()) if (unsettled(words, base) > 0) return false;
    return true;
  }
}

export interface FlowWords {
  readonly words: Int32Array;
  readonly base: number;
}

const unsettled = (words: Int32Array, base: number): number =>
  Math.max(0, distance(words[base + MARK.sent] as number, words[base + MARK.settled] as number));

/**
 * What the new thread of an agent is given of a flow whose ledger died: second copies of what is to be tried, and a
 * tombstone with its reason for everything else.
 */
export function replayOf(
  seat: Seat,
  flow: number,
  holder: Seat,
  names: readonly NamedMail[],
  context: ReplayContext,
): Replay | undefined {
  const record = [...seat.flows()].find((one) => one.flow === flow);
  if (record === undefined) return undefined;
  const { words, base, slab } = record;
  const settled = words[base + MARK.settled] as number;
  const sent = words[base + MARK.sent] as number;
  const started = words[base + MARK.started] as number;
  const kept = new Map(holder.kept(seat.number, flow).map((mail) => [mail.sequence, mail]));
  const named = new Map(
    names.filter((one) => one.seat === seat.number && one.flow === flow).map((one) => [one.sequence, one]),
  );
  const mails: MailData[] = [];
  for (let sequence = (settled + 1) | 0; distance(sequence, sent) <= 0; sequence = (sequence + 1) | 0) {
    const isCutOff = distance(sequence, started) <= 0;
    const copy = kept.get(sequence);
    const mail = copy ?? tombstone(sequence, named.get(sequence), isCutOff, context);
    const { charge } = context;
    const isCharged = charge?.seat === seat.number && charge.flow === flow && charge.sequence === sequence;
    if (copy !== undefined && isCharged) mail.attempts += 1;
    mails.push(mailToData(mail));
  }
  if (mails.length === 0) return undefined;
  const slot = words[base + MARK.slot] as number;
  return { seat: seat.number, flow, slot, lane: words[base + MARK.lane] as number, after: settled, slab, mails };
}

function tombstone(sequence: number, name: NamedMail | undefined, isCutOff: boolean, context: ReplayContext): Mail {
  const { agentId, reason, idOf } = context;
  const why: ErrorData = isCutOff
    ? { code: 'ACTOR_DIED', message: `${agentId} died while handling the envelope: ${reason}` }
    : { code: 'THREAD_DIED', message: `The thread that held this envelope for ${agentId} died: ${reason}` };
  const sender = name === undefined || name.senderSlot < 0 ? undefined : idOf(name.senderSlot);
  const mail = new Mail(
    name?.id ?? '',
    name?.type ?? 2,
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
  mail.tombstone = why;
  return mail;
}
