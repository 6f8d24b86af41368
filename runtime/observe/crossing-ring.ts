import { idText } from '../protocol/system-seams.ts';
import { type Mail, messageTypeOf } from '../mailbox/mail.ts';
import type { AgentTier } from '../protocol/agent-card.ts';
import { BROADCAST, type A2AMessageType } from '../protocol/envelope.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import type { SystemEvent } from '../protocol/system-event.ts';

/** What is remembered of an envelope that went from one tier to another. */
interface Crossing {
  timestamp: number;
  key: string | number;
  origin: string;
  sender: string;
  recipient: string;
  messageType: A2AMessageType;
  correlationId: string | undefined;
  target: AgentRow;
  sourceTier: AgentTier;
  targetTier: AgentTier;
}

/** The last envelopes that went from one tier to another: every such envelope is noted, so noting must cost little. */
export class CrossingRing {
  readonly #capacity: number;
  readonly #crossings: Crossing[] = [];
  #next = 0;
  #noted = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  note(mail: Mail, sourceTier: AgentTier, target: AgentRow): void {
    this.#noted += 1;
    const at = this.#next;
    this.#next = at + 1 === this.#capacity ? 0 : at + 1;
    const old = this.#crossings[at];
    if (old === undefined) {
      this.#crossings.push(crossingOf(mail, sourceTier, target));
      return;
    }
    old.timestamp = mail.timestamp;
    old.key = mail.key;
    old.origin = mail.origin;
    old.sender = mail.sender;
    old.recipient = mail.recipient;
    old.messageType = messageTypeOf(mail);
    old.correlationId = mail.correlationId;
    old.target = target;
    old.sourceTier = sourceTier;
    old.targetTier = target.party.tier;
  }

  /** How many were noted since the beginning. */
  get noted(): number {
    return this.#noted;
  }

  /** How many of them are remembered. */
  get remembered(): number {
    return this.#crossings.length;
  }

  /** What is remembered, as the events that users see. */
  toEvents(place: string): SystemEvent[] {
    return this.#crossings.map((crossing) => crossingEvent(crossing, place));
  }

  /** The crossings after the first `count` that are still remembered, oldest first, at most `limit`. */
  eventsBehind(count: number, limit: number, place: string): SystemEvent[] {
    const { length } = this.#crossings;
    const events: SystemEvent[] = [];
    for (let nth = Math.max(count, this.#noted - length); nth < this.#noted; nth++) {
      if (events.length === limit) break;
      events.push(crossingEvent(this.#crossings[nth % this.#capacity] as Crossing, place));
    }
    return events;
  }
}

export const crossingOf = (mail: Mail, sourceTier: AgentTier, target: AgentRow): Crossing => ({
  timestamp: mail.timestamp,
  key: mail.key,
  origin: mail.origin,
  sender: mail.sender,
  recipient: mail.recipient,
  messageType: messageTypeOf(mail),
  correlationId: mail.correlationId,
  target,
  sourceTier,
  targetTier: target.party.tier,
});

export function crossingEvent(
  { key, origin, correlationId, target, ...crossing }: Crossing,
  place: string,
): SystemEvent {
  return {
    ...crossing,
    envelopeId: typeof key === 'string' ? key : idText(origin, key),
    ...(correlationId === undefined ? {} : { correlationId }),
    type: 'routing-decision',
    place,
    targetAgentId: target.id,
    routingPath: crossing.recipient === BROADCAST ? 'broadcast' : target.profile.card.origin,
    success: true,
    security: true,
  };
}
