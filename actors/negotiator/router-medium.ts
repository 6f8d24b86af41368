import { type A2AEnvelope, SCHEMA_VERSION } from '../../runtime/protocol/envelope.ts';
import { EnvelopeFactory } from '../../runtime/protocol/envelope-factory.ts';
import { errorToData } from '../../runtime/protocol/errors.ts';
import { isSystemId } from '../../runtime/protocol/policy.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import type { A2ARouter, AgentRegistry, Outgoing, Sent } from '../../runtime/public.ts';
import type { NegotiationMedium, ProposalCause } from './negotiation-medium.ts';

/** `agentId` is registered, or of the system. */
export interface RouterMediumOptions {
  readonly agentId: string;
  readonly router: Pick<A2ARouter, 'send' | 'onReceive' | 'judge' | 'endGrant'>;
  readonly registry: Pick<AgentRegistry, 'getById' | 'viewFor'>;
  readonly seams?: Pick<Seams, 'clock' | 'newId'>;
}

/** Such a router hands over at once: nothing waits. */
const NOTHING_WAITS = { waiting: 0, capacity: Number.POSITIVE_INFINITY };

/** The medium of an agent over a router on its own, without threads. A cause's `origin` is the envelope in hand. */
export function routerMedium(options: RouterMediumOptions): NegotiationMedium {
  const { agentId, router, registry, seams = systemSeams() } = options;
  const factory = new EnvelopeFactory({ seams, cardOf: (id) => registry.getById(id) });
  const envelopeOf = (message: Outgoing, cause: ProposalCause | undefined): A2AEnvelope => {
    const envelope = factory.create({
      sender: agentId,
      ...contentOf(message),
      ...(cause?.origin === undefined ? {} : { cause: cause.origin as A2AEnvelope }),
    });
    const { metadata } = envelope;
    if (message.hops === undefined || metadata === undefined) return envelope;
    return { ...envelope, metadata: { ...metadata, path: [...(metadata.path ?? []), ...message.hops] } };
  };
  return {
    get capabilities() {
      return registry.getById(agentId)?.capabilities.map(({ id }) => id) ?? [];
    },
    mailbox: NOTHING_WAITS,
    whoOffers: (capabilities) => {
      const view = registry.viewFor(agentId);
      const [first, ...others] = capabilities;
      return (first === undefined ? view.listAll() : view.findByCapability(first))
        .filter(({ id }) => id !== agentId && !isSystemId(id))
        .filter((card) => others.every((other) => card.capabilities.some(({ id }) => id === other)))
        .map(({ id }) => id);
    },
    judge: (message) => {
      // What is only judged needs no id.
      const about = { id: 'judged', schemaVersion: SCHEMA_VERSION, timestamp: seams.clock.now() };
      const { metadata, ...content } = contentOf(message);
      const envelope = { ...about, ...content, sender: agentId, metadata: { tier: 3 as const, ...metadata } };
      return router.judge(envelope, { expectsReply: message.expectsReply === true });
    },
    send: async (message, cause) => {
      let envelope: A2AEnvelope;
      try {
        envelope = envelopeOf(message, cause);
      } catch (error) {
        return unmade(message, error);
      }
      const { expectsReply = false } = message;
      return { ...(await router.send(envelope, { expectsReply })), envelopeId: envelope.id };
    },
    listen: (listener) => router.onReceive(agentId, (envelope) => listener(envelope)),
    endGrant: (envelopeId, peer) => router.endGrant(envelopeId, agentId, peer),
  };
}

function contentOf({
  recipient,
  type,
  payload,
  correlationId,
  deadlineAtMs,
  inReplyTo,
  justification,
}: Outgoing) {
  return {
    recipient,
    type,
    payload,
    ...(correlationId === undefined ? {} : { correlationId }),
    metadata: {
      ...(deadlineAtMs === undefined ? {} : { deadlineAtMs }),
      ...(inReplyTo === undefined ? {} : { inReplyTo }),
      ...(justification === undefined ? {} : { escalationJustification: justification }),
    },
  };
}

function unmade({ recipient }: Outgoing, error: unknown): Sent {
  const { code: errorCode, message } = errorToData(error, 'DELIVERY_FAILED');
  return {
    delivered: false,
    path: 'local',
    targetAgentId: recipient,
    error: message,
    errorCode,
    envelopeId: '',
  };
}
