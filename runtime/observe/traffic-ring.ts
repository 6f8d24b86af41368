import { type Mail, messageTypeOf } from '../mailbox/mail.ts';
import { type A2AEnvelope, SCHEMA_VERSION } from '../protocol/envelope.ts';
import type { Party } from '../protocol/policy.ts';
import type { Outcome, SystemEvent } from './system-event.ts';

/** What the ring notes of an envelope. */
export const TRAFFIC = { sent: 0, received: 1, settled: 2, replied: 3 } as const;
export type TrafficKind = (typeof TRAFFIC)[keyof typeof TRAFFIC];

const OUTCOMES: readonly Outcome[] = ['handled', 'rejected', 'expired', 'dead-lettered'];

/** One noted event of an envelope. `detail`: the recipient's id, the outcome's index, or the answer. */
export interface Traffic {
  readonly kind: TrafficKind;
  readonly mail: Mail;
  readonly atMs: number;
  readonly detail: unknown;
}

/**
 * The last envelopes of one thread, always on: a few stores an event, turned into `SystemEvent`s only when asked for.
 */
export class TrafficRing {
  readonly #capacity: number;
  readonly #kinds: Uint8Array;
  readonly #times: Float64Array;
  readonly #mails: (Mail | undefined)[];
  readonly #details: unknown[];
  #next = 0;
  #listener: ((traffic: Traffic) => void) | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#kinds = new Uint8Array(capacity);
    this.#times = new Float64Array(capacity);
    this.#mails = new Array<Mail | undefined>(capacity).fill(undefined);
    this.#details = new Array<unknown>(capacity).fill(undefined);
  }

  note(kind: TrafficKind, mail: Mail, atMs: number, detail: unknown): void {
    const at = this.#next;
    this.#next = at + 1 === this.#capacity ? 0 : at + 1;
    this.#kinds[at] = kind;
    this.#times[at] = atMs;
    this.#mails[at] = mail;
    this.#details[at] = detail;
    if (this.#listener !== undefined) this.#listener({ kind, mail, atMs, detail });
  }

  /** Calls `listener` with every event from now on; undefined stops it. */
  listen(listener: ((traffic: Traffic) => void) | undefined): void {
    this.#listener = listener;
  }

  /** What is remembered, oldest first. */
  *entries(): Iterable<Traffic> {
    for (let step = 0; step < this.#capacity; step++) {
      const at = (this.#next + step) % this.#capacity;
      const mail = this.#mails[at];
      if (mail === undefined) continue;
      yield { kind: this.#kinds[at] as TrafficKind, mail, atMs: this.#times[at] as number, detail: this.#details[at] };
    }
  }
}

/** The noted traffic as the events that users see. */
export function trafficEvents({ kind, mail, atMs, detail }: Traffic, place: string): SystemEvent[] {
  const about = {
    timestamp: atMs,
    place,
    envelopeId: mail.id,
    sender: mail.sender,
    recipient: mail.recipient,
    messageType: messageTypeOf(mail),
    ...(mail.correlationId === undefined ? {} : { correlationId: mail.correlationId }),
    ...(mail.capability === undefined ? {} : { capability: mail.capability }),
  };
  if (kind === TRAFFIC.sent) {
    const routingPath = mail.recipient === '*' ? ('broadcast' as const) : ('local' as const);
    return [
      { type: 'message-sent', ...about },
      { type: 'routing-decision', ...about, routingPath, targetAgentId: String(detail), success: true },
    ];
  }
  if (kind === TRAFFIC.received) return [{ type: 'message-received', ...about }];
  if (kind === TRAFFIC.replied) {
    return [
      {
        ...about,
        type: 'message-sent',
        envelopeId: replyIdOf(mail),
        sender: mail.recipient,
        recipient: mail.sender,
        messageType: 'response',
      },
    ];
  }
  return [{ type: 'envelope-settled', ...about, outcome: OUTCOMES[detail as number] ?? 'handled' }];
}

export const outcomeIndex = (outcome: Outcome): number => OUTCOMES.indexOf(outcome);

/** The id of the answer to an asked envelope: derived, so that it needs no room on the way. */
export const replyIdOf = (mail: Mail): string => `${mail.id}~reply`;


/** The answer to an asked envelope, as an envelope. */
export function replyEnvelopeOf(
  mail: Mail,
  replier: string,
  { tier, sandboxId }: Party,
  atMs: number,
  payload: unknown,
): A2AEnvelope {
  return {
    id: replyIdOf(mail),
    schemaVersion: SCHEMA_VERSION,
    sender: replier,
    recipient: mail.sender,
    ...(mail.correlationId === undefined ? {} : { correlationId: mail.correlationId }),
    type: 'response',
    timestamp: atMs,
    payload,
    metadata: { tier, inReplyTo: mail.id, ...(sandboxId === undefined ? {} : { sandboxId }) },
  };
}
