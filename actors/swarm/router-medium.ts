import { SCHEMA_VERSION } from '../../runtime/protocol/envelope.ts';
import { EnvelopeFactory } from '../../runtime/protocol/envelope-factory.ts';
import { isSystemId } from '../../runtime/protocol/policy.ts';
import type { RoutingResult } from '../../runtime/protocol/routing-result.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import type { A2ARouter, AgentRegistry } from '../../runtime/public.ts';
import { type SwarmLetter, type SwarmMedium, unsent } from './swarm-medium.ts';

/** `agentId` is registered, or of the system. */
export interface RouterMediumOptions {
  readonly agentId: string;
  readonly router: Pick<A2ARouter, 'send' | 'onReceive' | 'judge'>;
  readonly registry: Pick<AgentRegistry, 'getById' | 'viewFor'>;
  readonly seams?: Pick<Seams, 'clock' | 'newId'>;
}

/** A coordinator's medium over a router on its own, without threads. */
export function routerMedium(options: RouterMediumOptions): SwarmMedium {
  const { agentId, router, registry, seams = systemSeams() } = options;
  const factory = new EnvelopeFactory({ seams, cardOf: (id) => registry.getById(id) });
  const send = async (letter: SwarmLetter, onMade?: (envelopeId: string) => void): Promise<RoutingResult> => {
    try {
      const envelope = factory.create({ sender: agentId, ...contentOf(letter) });
      onMade?.(envelope.id);
      return await router.send(envelope, { expectsReply: letter.expectsReply === true });
    } catch (error) {
      return unsent(letter, error);
    }
  };
  return {
    agentId,
    seams,
    isTold: true,
    whoOffers: (capabilityId) =>
      registry
        .viewFor(agentId)
        .findByCapability(capabilityId)
        .map(({ id }) => id)
        .filter((id) => id !== agentId && !isSystemId(id)),
    judge: (letter) => {
      // What is only judged needs no id.
      const about = {
        id: 'judged',
        schemaVersion: SCHEMA_VERSION,
        timestamp: seams.clock.now(),
        sender: agentId,
      };
      const { metadata, ...content } = contentOf(letter);
      const envelope = { ...about, ...content, metadata: { tier: 3 as const, ...metadata } };
      return router.judge(envelope, { expectsReply: letter.expectsReply === true });
    },
    send,
    listen: (listener) => router.onReceive(agentId, (envelope) => void listener(envelope)),
  };
}

function contentOf({
  expectsReply: _judged,
  behalf: _behalf,
  capability,
  deadlineAtMs,
  inReplyTo,
  justification,
  metadata,
  ...content
}: SwarmLetter) {
  return {
    ...content,
    metadata: {
      ...metadata,
      ...(capability === undefined ? {} : { capability }),
      ...(deadlineAtMs === undefined ? {} : { deadlineAtMs }),
      ...(inReplyTo === undefined ? {} : { inReplyTo }),
      ...(justification === undefined ? {} : { escalationJustification: justification }),
    },
  };
}
