import { z } from 'zod';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import { invalidPayload } from '../../runtime/protocol/errors.ts';

/** The name of the request, as a capability and as the `type` in its payload. */
export const CAPABILITY_NEGOTIATION = 'capability_negotiation';
/** The `type` in the payload of the answer. */
export const CAPABILITY_NEGOTIATION_RESPONSE = 'capability_negotiation_response';

const Names = z.array(z.string().min(1));

/**
 * What one peer asks another at the beginning of a session (seed 4): which of the capabilities it needs the other one has,
 * and in which schema, language and way of payment they might deal. All lists are in the order of preference.
 */
export const CapabilityNegotiation = z.object({
  type: z.literal(CAPABILITY_NEGOTIATION).default(CAPABILITY_NEGOTIATION),
  i_need: Names.default([]),
  i_offer: Names.default([]),
  preferred_schemas: Names.default([]),
  languages: Names.default([]),
  payment_methods: Names.default([]),
});
export type CapabilityNegotiation = z.infer<typeof CapabilityNegotiation>;

/** Another agent that has what was needed; `amid` is its id. */
export const SuggestedAgent = z.object({
  amid: z.string(),
  display_name: z.string(),
  reason: z.string(),
});
export type SuggestedAgent = z.infer<typeof SuggestedAgent>;

/**
 * The answer (seed 4).
 *
 * - `matched`, `unavailable`  what was needed, parted.
 * - `suggested_alternative`   by capability that is unavailable here, who has it.
 * - `agreed_schema`           of the schema that the asker prefers most the highest version in common; absent without one.
 * - `agreed_schemas`          of every schema that both have.
 * - `agreed_language`, `agreed_payment_method` the asker's first that both have.
 */
export const CapabilityNegotiationResponse = z.object({
  type: z.literal(CAPABILITY_NEGOTIATION_RESPONSE).default(CAPABILITY_NEGOTIATION_RESPONSE),
  matched: Names.default([]),
  unavailable: Names.default([]),
  suggested_alternative: z.record(z.string(), SuggestedAgent).default({}),
  agreed_schema: z.string().optional(),
  agreed_schemas: Names.default([]),
  agreed_language: z.string().optional(),
  agreed_payment_method: z.string().optional(),
});
export type CapabilityNegotiationResponse = z.infer<typeof CapabilityNegotiationResponse>;

/** A request in either spelling, `i_need` or `iNeed`. Fails with INVALID_PAYLOAD naming field and fault. */
export const readNegotiation = (payload: unknown): CapabilityNegotiation =>
  read(CapabilityNegotiation, CAPABILITY_NEGOTIATION, payload);

/** An answer in either spelling, `suggested_alternatives` too. Fails with INVALID_PAYLOAD naming field and fault. */
export const readNegotiationResponse = (payload: unknown): CapabilityNegotiationResponse =>
  read(CapabilityNegotiationResponse, CAPABILITY_NEGOTIATION_RESPONSE, payload);

function read<Schema extends z.ZodType>(schema: Schema, name: string, payload: unknown): z.output<Schema> {
  const said = inSnakeCase(payload);
  const parsed = schema.safeParse(said);
  if (parsed.success) return parsed.data;
  throw invalidPayload(name, faultsOf(parsed.error, said));
}

const OTHER_NAMES: Readonly<Record<string, string>> = { suggested_alternatives: 'suggested_alternative' };

/** The fields of the message in the seed's spelling; capability ids, which are keys as well, stay as they are. */
function inSnakeCase(message: unknown): unknown {
  if (!isRecord(message)) return message;
  const fields = respelled(message);
  const { suggested_alternative: suggested } = fields;
  if (!isRecord(suggested)) return fields;
  const agents = Object.entries(suggested).map(([id, agent]) => [
    id,
    isRecord(agent) ? respelled(agent) : agent,
  ]);
  return { ...fields, suggested_alternative: Object.fromEntries(agents) };
}

function respelled(fields: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(fields).map(([name, value]) => {
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [OTHER_NAMES[snake] ?? snake, value];
  });
  return Object.fromEntries(entries);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
