import { toEnvelope } from '../mailbox/mail.ts';
import type { Remembered } from '../journal/history.ts';
import { answerEnvelopeOf, TRAFFIC, type Traffic } from '../observe/traffic-ring.ts';
import { estimateSize } from '../observe/estimate-size.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { findUnserialisable } from '../protocol/json.ts';
import { HistoryPost } from '../journal/history-post.ts';
import type { ThreadNode } from './thread-node.ts';

/** A payload that is larger is not kept: the envelope is, without it. */
const PAYLOAD_CHARACTERS = 16_384;
/** Of what a thread notes so much a second is made texts of, at most: entries, and thousands of characters. */
const WORK_A_SECOND = 1_000;
const WORK_AT_ONCE = 2_000;
/** With less left it waits until it has earned more. */
const WORTHWHILE = 64;
/** Crossings that are given at once. */
const CROSSINGS = 256;

/**
 * What one thread gives the journal of what it notes anyway. It reads its rings now and then, and never more of them than
 * costs little: sending notes nothing more, and what the rings have forgotten by then is counted as missed.
 */
export class NodeHistory {
  readonly #node: ThreadNode;
  readonly #post: HistoryPost;
  /** The serial of the traffic, and the number of the crossing, that it reads next. */
  #trafficAt: number;
  #crossingAt: number;
  #work = WORK_AT_ONCE;
  #workedAtMs: number;

  constructor(node: ThreadNode, remember: (remembered: Remembered) => Promise<void>) {
    this.#node = node;
    this.#post = new HistoryPost(remember);
    // An inline agent may have sent something before its thread is told of the journal.
    this.#trafficAt = Math.max(0, node.log.traffic.noted - node.log.traffic.capacity);
    this.#crossingAt = 0;
    this.#workedAtMs = node.seams.clock.now();
  }

  /** Half of what is remembered has not been read, and would be forgotten soon; there is work left for it. */
  get isBehind(): boolean {
    if (this.#work < WORTHWHILE) return false;
    const { noted, capacity } = this.#node.log.traffic;
    return noted - this.#trafficAt > capacity >> 1;
  }

  /** Gives what was noted since, unless the last lot is still under way. */
  collect(): void {
    const { log } = this.#node;
    const isNew = log.traffic.noted > this.#trafficAt || log.crossings.noted > this.#crossingAt;
    if (this.#post.isBusy || !(isNew || log.unaudited > 0)) return;
    const nowMs = this.#node.seams.clock.now();
    const earned = (Math.max(0, nowMs - this.#workedAtMs) * WORK_A_SECOND) / 1_000;
    this.#work = Math.min(WORK_AT_ONCE, this.#work + earned);
    this.#workedAtMs = nowMs;
    this.#post.miss(log.unaudited);
    log.unaudited = 0;
    const crossings = this.#crossings();
    this.#post.give({ crossings, traffic: this.#traffic() });
  }

  /** The thread ends: gives the last of it, counts what it has no time for, and resolves when that has arrived. */
  async leave(): Promise<void> {
    await this.#post.whenGiven();
    this.collect();
    await this.#post.whenGiven();
    this.#post.miss(this.#unread);
    this.#post.give({});
    await this.#post.whenGiven();
  }

  /** Entries that nobody has made a text of yet. */
  get #unread(): number {
    const { traffic, crossings } = this.#node.log;
    let count = crossings.noted - this.#crossingAt;
    for (const { mail } of traffic.entries(this.#trafficAt)) if (mail.correlationId !== undefined) count += 1;
    return count;
  }

  #crossings(): string[] {
    const { log, id } = this.#node;
    const { noted } = log.crossings;
    const events = log.crossings.eventsBehind(this.#crossingAt, Math.min(CROSSINGS, this.#entriesLeft), id);
    if (events.length === 0) return [];
    const remembered = log.crossings.remembered;
    this.#post.miss(Math.max(0, noted - remembered - this.#crossingAt));
    this.#crossingAt = Math.max(this.#crossingAt, noted - remembered) + events.length;
    return events.map((event) => this.#spend(JSON.stringify(event)));
  }

  #traffic(): string[] {
    const { traffic } = this.#node.log;
    const forgotten = traffic.noted - traffic.capacity;
    if (forgotten > this.#trafficAt) {
      this.#post.miss(forgotten - this.#trafficAt);
      this.#trafficAt = forgotten;
    }
    const texts: string[] = [];
    for (const one of traffic.entries(this.#trafficAt)) {
      if (this.#entriesLeft === 0) break;
      this.#trafficAt = one.serial + 1;
      if (one.mail.correlationId === undefined) continue;
      const envelope = envelopeOf(one, this.#node);
      if (envelope !== undefined) texts.push(this.#spend(textOf(envelope)));
    }
    return texts;
  }

  get #entriesLeft(): number {
    return Math.max(0, Math.floor(this.#work));
  }

  #spend(text: string): string {
    this.#work -= 1 + text.length / 1_000;
    return text;
  }
}

/** The envelope that was sent, or that answered; undefined of what is neither. */
export function envelopeOf(traffic: Traffic, { judge, agentOf }: ThreadNode): A2AEnvelope | undefined {
  const { kind, mail } = traffic;
  if (kind === TRAFFIC.sent) {
    const { tier, sandboxId } = judge.partyOf(mail.sender);
    return toEnvelope(mail, tier, sandboxId);
  }
  if (kind < TRAFFIC.replied) return undefined;
  const replier = agentOf(mail);
  return answerEnvelopeOf(traffic, replier, judge.partyOf(replier));
}

/** A payload that is large, or that JSON cannot say, is left out. */
function textOf(envelope: A2AEnvelope): string {
  const { payload } = envelope;
  if (estimateSize(payload) <= PAYLOAD_CHARACTERS && findUnserialisable(payload) === undefined) {
    const text = JSON.stringify(envelope);
    if (text.length <= 2 * PAYLOAD_CHARACTERS) return text;
  }
  return JSON.stringify({ ...envelope, payload: undefined });
}
