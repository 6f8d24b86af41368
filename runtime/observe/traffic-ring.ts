import { copyOf, type Mail } from '../mailbox/mail.ts';
import { type A2AEnvelope, type A2AMessageType, BROADCAST, SCHEMA_VERSION } from '../protocol/envelope.ts';
import type { Party } from '../protocol/policy.ts';
import type { Taint } from '../protocol/taint.ts';
import { type AgentRow, routingPathTo } from '../protocol/agent-row.ts';
import { aboutMail } from './about-mail.ts';
import type { Outcome, SystemEvent } from '../protocol/system-event.ts';
import { estimateSize } from './estimate-size.ts';

/** What the ring notes of an envelope; the last four are the answers to it. */
export const TRAFFIC = {
  sent: 0,
  received: 1,
  settled: 2,
  replied: 3,
  failed: 4,
  chunk: 5,
  ended: 6,
} as const;
export type TrafficKind = (typeof TRAFFIC)[keyof typeof TRAFFIC];

const OUTCOMES: readonly Outcome[] = ['handled', 'rejected', 'expired', 'dead-lettered'];
/** The message types of the answers, from `replied` on. */
const ANSWER_TYPES: readonly A2AMessageType[] = ['response', 'error', 'stream-data', 'stream-end'];

/**
 * One noted event of an envelope.
 *
 * - `detail`    of what was sent the recipient's row, and nothing of a broadcast; the outcome's index; or the answer.
 * - `latencyMs` how long routing took, of what was sent; NaN where it was not measured.
 * - `serial`    counts the events of this thread.
 */
export interface Traffic {
  readonly kind: TrafficKind;
  readonly mail: Mail;
  readonly atMs: number;
  readonly detail: unknown;
  readonly latencyMs: number;
  readonly serial: number;
}

/** Hears of the events that it takes. */
export interface TrafficListener {
  takes(mail: Mail, atMs: number): boolean;
  hear(traffic: Traffic): void;
}

/** The size of a block of events is estimated by one of them. */
const BLOCK_BITS = 4;
const BLOCK = 1 << BLOCK_BITS;
/** About how many bytes of payloads a ring keeps. */
const BUDGET = 8_000_000;

/**
 * The last envelopes of one thread, always on: a few stores an event, turned into `SystemEvent`s only when asked for.
 *
 * Payloads are kept with them as far as a budget of bytes reaches; the events of older ones stay without.
 */
export class TrafficRing {
  readonly #capacity: number;
  readonly #kinds: Uint8Array;
  readonly #times: Float64Array;
  readonly #latencies: Float64Array;
  readonly #mails: (Mail | undefined)[];
  readonly #details: unknown[];
  /** Estimated bytes of the payloads of each block. */
  readonly #weights: Float64Array;
  #weight = 0;
  #next = 0;
  /** The serial of the ring's first entry, since it last began at its start. */
  #base = 0;
  #listener: TrafficListener | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#kinds = new Uint8Array(capacity);
    this.#times = new Float64Array(capacity);
    this.#latencies = new Float64Array(capacity);
    this.#mails = new Array<Mail | undefined>(capacity).fill(undefined);
    this.#details = new Array<unknown>(capacity).fill(undefined);
    this.#weights = new Float64Array(Math.ceil(capacity / BLOCK));
  }

  note(kind: TrafficKind, mail: Mail, atMs: number, detail: unknown, latencyMs = Number.NaN): void {
    const at = this.#next;
    this.#kinds[at] = kind;
    this.#times[at] = atMs;
    this.#latencies[at] = latencyMs;
    this.#mails[at] = mail;
    this.#details[at] = detail;
    this.#next = at + 1;
    if (this.#next === this.#capacity) {
      this.#next = 0;
      this.#base += this.#capacity;
    }
    // Another event of the block each time, because the kinds of events take turns.
    const block = at >> BLOCK_BITS;
    if (((at ^ block) & (BLOCK - 1)) === 0)
      this.#measureBlock(block, mail, kind >= TRAFFIC.replied ? detail : undefined);
    if (this.#listener?.takes(mail, atMs) === true) this.#listener.hear(this.#traffic(at, mail));
  }

  /** Tells `listener` of events from now on; undefined stops it. */
  listen(listener: TrafficListener | undefined): void {
    this.#listener = listener;
  }

  /** How many events were noted since the beginning: the serial of the next one. */
  get noted(): number {
    return this.#base + this.#next;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** What is remembered, oldest first; from this serial on. */
  *entries(from = 0): Iterable<Traffic> {
    for (let step = Math.max(0, this.#capacity - (this.noted - from)); step < this.#capacity; step++) {
      const at = (this.#next + step) % this.#capacity;
      const mail = this.#mails[at];
      if (mail !== undefined) yield this.#traffic(at, mail);
    }
  }

  #measureBlock(block: number, mail: Mail, answer: unknown): void {
    const weight = (estimateSize(mail.payload) + estimateSize(answer)) * BLOCK;
    this.#weight += weight - (this.#weights[block] as number);
    this.#weights[block] = weight;
    for (let step = 1; this.#weight > BUDGET && step < this.#weights.length; step++) {
      this.#lighten((block + step) % this.#weights.length);
    }
  }

  /** Drops the payloads of a block. */
  #lighten(block: number): void {
    const weight = this.#weights[block] as number;
    if (weight === 0) return;
    this.#weight -= weight;
    this.#weights[block] = 0;
    for (let at = block * BLOCK; at < Math.min(this.#capacity, (block + 1) * BLOCK); at++) {
      const mail = this.#mails[at];
      if (mail === undefined) continue;
      const light = copyOf(mail);
      light.payload = undefined;
      light.flow = mail.flow;
      this.#mails[at] = light;
      if ((this.#kinds[at] as number) >= TRAFFIC.replied) this.#details[at] = undefined;
    }
  }

  #traffic(at: number, mail: Mail): Traffic {
    return {
      kind: this.#kinds[at] as TrafficKind,
      mail,
      atMs: this.#times[at] as number,
      detail: this.#details[at],
      latencyMs: this.#latencies[at] as number,
      serial: at + (at < this.#next ? this.#base : this.#base - this.#capacity),
    };
  }
}

/** The thread whose traffic it is: `agentOf` gives the id of the agent that has an envelope in its mailbox. */
export interface TrafficPlace {
  readonly id: string;
  agentOf(mail: Mail): string;
}

/** The noted traffic as the events that users see. */
export function trafficEvents(traffic: Traffic, { id: place, agentOf }: TrafficPlace): SystemEvent[] {
  const { kind, mail, atMs, detail } = traffic;
  const taint = taintOf(traffic);
  const about = {
    timestamp: atMs,
    place,
    ...aboutMail(mail),
    ...(mail.capability === undefined ? {} : { capability: mail.capability }),
    ...(taint === undefined ? {} : { taint }),
  };
  if (kind === TRAFFIC.sent) {
    const latency = latencyOf(traffic.latencyMs);
    const target = detail as AgentRow | undefined;
    const routingPath = target === undefined ? 'broadcast' : routingPathTo(target);
    const targetAgentId = target?.id ?? BROADCAST;
    return [
      { type: 'message-sent', ...about, ...termsOf(mail) },
      { type: 'routing-decision', ...about, routingPath, targetAgentId, ...latency, success: true },
    ];
  }
  if (kind === TRAFFIC.received)
    return [{ type: 'message-received', ...about, targetAgentId: agentOf(mail) }];
  if (kind === TRAFFIC.settled) {
    const outcome = OUTCOMES[detail as number] ?? 'handled';
    return [{ type: 'envelope-settled', ...about, targetAgentId: agentOf(mail), outcome }];
  }
  return [
    {
      ...about,
      type: 'message-sent',
      envelopeId: answerIdOf(traffic),
      sender: agentOf(mail),
      recipient: mail.sender,
      messageType: answerTypeOf(kind),
    },
  ];
}

/** Until when it is waited for, and what may be spent on it. */
const termsOf = ({ deadlineAtMs, extras }: Mail): Pick<SystemEvent, 'deadlineAtMs' | 'budget'> => ({
  ...(deadlineAtMs > 0 ? { deadlineAtMs } : {}),
  ...(extras?.budget === undefined ? {} : { budget: extras.budget }),
});

/** The field `latencyMs`, where it was measured. */
export const latencyOf = (latencyMs: number): { readonly latencyMs?: number } =>
  Number.isNaN(latencyMs) ? {} : { latencyMs };

/** The taint of an event: of an answer it is that of the work. */
const taintOf = ({ kind, mail }: Traffic): Taint | undefined =>
  kind >= TRAFFIC.replied ? mail.workTaint : mail.extras?.taint;

export const outcomeIndex = (outcome: Outcome): number => OUTCOMES.indexOf(outcome);

const answerTypeOf = (kind: TrafficKind): A2AMessageType =>
  ANSWER_TYPES[kind - TRAFFIC.replied] ?? 'response';

/** The id of an answer, derived from the ask's: it does not cross on the wire. */
const answerIdOf = ({ kind, mail, serial }: Traffic): string =>
  kind === TRAFFIC.chunk ? `${mail.id}~reply-${serial}` : `${mail.id}~reply`;

/** An answer to an asked envelope, as an envelope. */
export function answerEnvelopeOf(traffic: Traffic, replier: string, { tier, sandboxId }: Party): A2AEnvelope {
  const { kind, mail, atMs, detail } = traffic;
  const taint = taintOf(traffic);
  const marked = taint === undefined ? {} : { taint };
  return {
    id: answerIdOf(traffic),
    schemaVersion: SCHEMA_VERSION,
    sender: replier,
    recipient: mail.sender,
    ...(mail.correlationId === undefined ? {} : { correlationId: mail.correlationId }),
    type: answerTypeOf(kind),
    timestamp: atMs,
    payload: detail,
    metadata: { tier, inReplyTo: mail.id, ...(sandboxId === undefined ? {} : { sandboxId }), ...marked },
  };
}
