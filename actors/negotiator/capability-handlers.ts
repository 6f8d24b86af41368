import { z } from 'zod';
import type { EnvelopeHandler } from '../../runtime/agent/agent-definition.ts';
import {
  type ActorContext,
  type AgentClient,
  type AskOptions,
  capability,
  clientOf,
  type HandlingContext,
  type Sender,
} from '../../runtime/public.ts';
import {
  CAPABILITY_NEGOTIATION,
  CapabilityNegotiation,
  CapabilityNegotiationResponse,
  readNegotiation,
  readNegotiationResponse,
  type SuggestedAgent,
} from './capability-negotiation.ts';
import { matchCapabilities, type NegotiationOffer } from './match-capabilities.ts';

/** The request as a capability of an agent. Either spelling is taken, so the fields are looked at by whoever answers. */
export const capabilityNegotiation = capability({
  id: CAPABILITY_NEGOTIATION,
  description: 'Says which capabilities, schemas, languages and payment methods two peers have in common',
  input: z.looseObject({ ...CapabilityNegotiation.partial().shape }),
  output: z.looseObject({ ...CapabilityNegotiationResponse.partial().shape }),
  readOnly: true,
});

/**
 * Asks an agent what it and the asker have in common. Rejects with what `ask` rejects with, and with INVALID_PAYLOAD on an
 * answer that is none.
 */
export async function negotiateCapabilities(
  asker: Pick<Sender, 'ask'>,
  agent: string,
  request: z.input<typeof CapabilityNegotiation>,
  options: AskOptions = {},
): Promise<CapabilityNegotiationResponse> {
  const target = { agent, capability: capabilityNegotiation };
  return readNegotiationResponse(await asker.ask(target, readNegotiation(request), options));
}

/**
 * Answers requests out of an offer: `.handle(capabilityNegotiation, offersCapabilities({ schemas: [...] }))`. What the
 * agent lacks, it suggests another agent for, one that the asker may see as well.
 *
 * - `capabilities` @default those on the agent's card
 */
export const offersCapabilities =
  (offer: Partial<NegotiationOffer> = {}) =>
  <State>(request: unknown, ctx: HandlingContext<State>): CapabilityNegotiationResponse =>
    answerAt(clientOf(ctx as ActorContext<unknown>), request, ctx.envelope.sender, offer);

/** What is answered for an agent that does not handle the request. */
export const answerByCard: EnvelopeHandler<never> = ({ payload, sender }, ctx) =>
  answerAt(clientOf(ctx), payload, sender, {});

function answerAt(
  client: AgentClient,
  request: unknown,
  asker: string,
  offer: Partial<NegotiationOffer>,
): CapabilityNegotiationResponse {
  const capabilities = offer.capabilities ?? client.capabilities;
  return matchCapabilities(readNegotiation(request), { ...offer, capabilities }, (id) =>
    suggestAt(client, id, asker),
  );
}

function suggestAt(client: AgentClient, capabilityId: string, asker: string): SuggestedAgent | undefined {
  const seen = client.whoOffers([capabilityId]);
  const [agent] = client.whoOffers([capabilityId], asker).filter((id) => seen.includes(id) && id !== asker);
  if (agent === undefined) return undefined;
  return { amid: agent, display_name: client.nameOf(agent), reason: `${agent} offers ${capabilityId}` };
}
