import {
  CAPABILITY_NEGOTIATION_RESPONSE,
  type CapabilityNegotiation,
  type CapabilityNegotiationResponse,
  type SuggestedAgent,
} from './capability-negotiation.ts';
import { commonSchemas } from './schema-id.ts';

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
