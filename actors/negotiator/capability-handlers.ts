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
  CAPABILITY_NEGOTIATION_RESPONSE,
  CapabilityNegotiation,
  CapabilityNegotiationResponse,
  readNegotiation,
  readNegotiationResponse,
  type SuggestedAgent,
} from './capability-negotiation.ts';

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

/** What a peer has to offer. Languages are tags such as `en` or `de-AT`. */
export interface NegotiationOffer {
  readonly capabilities: readonly string[];
  readonly schemas?: readonly string[];
  readonly languages?: readonly string[];
  readonly paymentMethods?: readonly string[];
}

/** Answers a request out of an offer; `suggest` names somebody else for what is not in it. */
export function matchCapabilities(
  request: CapabilityNegotiation,
  { capabilities, schemas = [], languages = [], paymentMethods = [] }: NegotiationOffer,
  suggest: (capability: string) => SuggestedAgent | undefined = () => undefined,
): CapabilityNegotiationResponse {
  const needed = [...new Set(request.i_need)];
  const unavailable = needed.filter((id) => !capabilities.includes(id));
  const suggested = unavailable.flatMap((id) => {
    const agent = suggest(id);
    return agent === undefined ? [] : [[id, agent] as const];
  });
  const agreedSchemas = commonSchemas(request.preferred_schemas, schemas);
  return {
    type: CAPABILITY_NEGOTIATION_RESPONSE,
    matched: needed.filter((id) => capabilities.includes(id)),
    unavailable,
    suggested_alternative: Object.fromEntries(suggested),
    agreed_schemas: agreedSchemas,
    ...named('agreed_schema', agreedSchemas[0]),
    ...named('agreed_language', commonLanguage(request.languages, languages)),
    ...named(
      'agreed_payment_method',
      request.payment_methods.find((one) => has(paymentMethods, one)),
    ),
  };
}

const named = <Name extends string>(name: Name, value: string | undefined): { [Field in Name]?: string } =>
  (value === undefined ? {} : { [name]: value }) as { [Field in Name]?: string };

const has = (names: readonly string[], name: string): boolean =>
  names.some((one) => one.toLowerCase() === name.toLowerCase());

/** The first wanted tag that is there as it is; else the first whose language is there in another country's form. */
function commonLanguage(wanted: readonly string[], there: readonly string[]): string | undefined {
  const exact = wanted.find((tag) => has(there, tag));
  if (exact !== undefined) return exact;
  for (const tag of wanted) {
    const near = there.find((one) => primaryOf(one) === primaryOf(tag));
    if (near !== undefined) return near;
  }
  return undefined;
}

const primaryOf = (tag: string): string => (tag.split('-')[0] ?? '').toLowerCase();

/** A schema's name without its version, such as `agentmesh/travel/flight-search`, and the version. */
export interface SchemaId {
  readonly name: string;
  readonly version: number;
}

/** What `agentmesh/travel/flight-search/v1` says; undefined of what is no versioned id. */
export function parseSchemaId(id: string): SchemaId | undefined {
  const [, name, version] = /^(.+)\/v(\d+)$/.exec(id) ?? [];
  return name === undefined || version === undefined ? undefined : { name, version: Number(version) };
}

/**
 * The ids that both sides have: of each schema the highest version that they have in common, in the order of the first
 * side. An id without a version is common where both have it as it is.
 */
export function commonSchemas(ours: readonly string[], theirs: readonly string[]): string[] {
  const common = [...new Set(ours)].filter((id) => theirs.includes(id));
  const names = [...new Set(common.map((id) => parseSchemaId(id)?.name ?? id))];
  return names.map((name) => highest(common.filter((id) => (parseSchemaId(id)?.name ?? id) === name)));
}

const versionOf = (id: string): number => parseSchemaId(id)?.version ?? 0;

const highest = (ids: readonly string[]): string =>
  ids.reduce((best, id) => (versionOf(id) > versionOf(best) ? id : best));
