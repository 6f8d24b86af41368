import { type A2AEnvelope, SCHEMA_VERSION } from '../../runtime/protocol/envelope.ts';
import { EnvelopeFactory } from '../../runtime/protocol/envelope-factory.ts';
import { isSystemId } from '../../runtime/protocol/policy.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { warnOf } from '../../runtime/protocol/warn-of.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import type { A2ARouter, AgentRegistry } from '../../runtime/public.ts';
import { type AgentPort, type PortMessage, unsent } from './agent-port.ts';

/** `agentId` is registered, or of the system; `handling`: the envelope that it has in hand. */
export interface RouterPortOptions {
  readonly agentId: string;
  readonly router: Pick<A2ARouter, 'send' | 'onReceive' | 'judge' | 'endGrant'>;
  readonly registry: Pick<AgentRegistry, 'getById' | 'viewFor'>;
  readonly seams?: Pick<Seams, 'clock' | 'newId'>;
  readonly handling?: A2AEnvelope;
}

/** Such a router hands over at once: nothing waits. */
const NOTHING_WAITS = { waiting: 0, capacity: Number.POSITIVE_INFINITY };

/**
 * The port of an agent over a router on its own, without threads: nothing outlives it, and nobody watches. An error that is
 * noted is a warning of the process.
 */
export function routerPort(options: RouterPortOptions): AgentPort {
  const { agentId, router, registry, seams = systemSeams(), handling } = options;
  const factory = new EnvelopeFactory({ seams, cardOf: (id) => registry.getById(id) });
  const envelopeOf = (message: PortMessage): A2AEnvelope => {
    const cause = handling === undefined ? {} : { cause: handling };
    const envelope = factory.create({ sender: agentId, ...contentOf(message), ...cause });
    const { metadata } = envelope;
    if (message.hops === undefined || metadata === undefined) return envelope;
    return { ...envelope, metadata: { ...metadata, path: [...(metadata.path ?? []), ...message.hops] } };
  };
  return {
    agentId,
    seams,
    work: handling && workIn(handling),
    get capabilities() {
      return registry.getById(agentId)?.capabilities.map(({ id }) => id) ?? [];
    },
    mailbox: NOTHING_WAITS,
    taint: undefined,
    records: undefined,
    steps: undefined,
    open: () => Promise.resolve(),
    handles: () => true,
    whoOffers: (capabilities) => {
      const view = registry.viewFor(agentId);
      const [first, ...others] = capabilities;
      return (first === undefined ? view.listAll() : view.findByCapability(first))
        .filter(({ id }) => id !== agentId && !isSystemId(id))
        .filter((card) => others.every((other) => card.capabilities.some(({ id }) => id === other)))
        .map(({ id }) => id);
    },
    loadOf: () => 0,
    isKeptFor: () => false,
    judge: (message) => {
      // What is only judged needs no id.
      const about = { id: 'judged', schemaVersion: SCHEMA_VERSION, timestamp: seams.clock.now() };
      const { metadata, ...content } = contentOf(message);
      const envelope = { ...about, ...content, sender: agentId, metadata: { tier: 3 as const, ...metadata } };
      return router.judge(envelope, { expectsReply: message.expectsReply === true });
    },
    send: async (message, onSent) => {
      let envelope: A2AEnvelope;
      try {
        envelope = envelopeOf(message);
      } catch (error) {
        return unsent(message, error);
      }
      onSent?.(envelope.id);
      const { expectsReply = false } = message;
      return { ...(await router.send(envelope, { expectsReply })), envelopeId: envelope.id };
    },
    ask: undefined,
    listen: (listener) => router.onReceive(agentId, (envelope) => void listener(envelope)),
    absorbTaint: () => undefined,
    behalf: () => undefined,
    delegate: () => undefined,
    delegateAgain: () => undefined,
    holdGrant: () => undefined,
    endGrant: (envelopeId, peer) => router.endGrant(envelopeId, agentId, peer),
    note: ({ type, agentId: who = agentId, reason }) => {
      if (type === 'error') warnOf(`An error of ${who}`, reason);
    },
  };
}

const workIn = ({ id, correlationId, metadata }: A2AEnvelope) => ({
  envelopeId: id,
  correlationId: correlationId ?? id,
  deadlineAtMs: metadata?.deadlineAtMs,
  signal: undefined,
  isTriedAgain: false,
  isOver: false,
});

function contentOf({
  recipient,
  type,
  payload,
  capability,
  correlationId,
  deadlineAtMs,
  inReplyTo,
  justification,
  metadata,
}: PortMessage) {
  return {
    recipient,
    type,
    payload,
    ...(correlationId === undefined ? {} : { correlationId }),
    metadata: {
      ...metadata,
      ...(capability === undefined ? {} : { capability }),
      ...(deadlineAtMs === undefined ? {} : { deadlineAtMs }),
      ...(inReplyTo === undefined ? {} : { inReplyTo }),
      ...(justification === undefined ? {} : { escalationJustification: justification }),
    },
  };
}
