import { z } from 'zod';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { ReceiveFinding, ReceivePolicy } from '../../runtime/protocol/receive-policy.ts';
import type { SchemaFault } from './compiled-schema.ts';
import { meshTypeIn } from './message.ts';
import type { PayloadSchemas, SchemaCheck } from './payload-schemas.ts';
import { PAYLOAD_TYPES, type PayloadType, readPayload } from './payloads.ts';
import { isCustomSchemaId } from './schema-id.ts';
import { INTENT_SCHEMAS, STANDARD_SCHEMAS } from './standard-schemas.ts';

/**
 * What is done with a payload that is not as its schema has it.
 *
 * - `silent` nothing: it is not checked.
 * - `warn`   it is handled, with a warning.
 * - `strict` its sender is answered with INVALID_PAYLOAD.
 */
export const SchemaMode = z.enum(['silent', 'warn', 'strict']);
export type SchemaMode = z.infer<typeof SchemaMode>;

const Options = z.strictObject({ mode: SchemaMode.default('warn') });

/**
 * The rule about payloads: those of AgentMesh are checked by their type, and all by the schema that they declare. A request whose
 * intent has a standard schema declares that one. What declares none is not checked, and a schema that is not there is a warning
 * in each mode but `silent`.
 *
 * Throws INVALID_OPTIONS for another mode.
 */
export function payloadSchemas(
  schemas: Pick<PayloadSchemas, 'check'>,
  options: { readonly mode?: SchemaMode } = {},
): ReceivePolicy {
  const { mode } = parseOptions(Options, options, '');
  return {
    name: 'payload-schemas',
    receive: ({ envelope }) => (mode === 'silent' ? undefined : findingOf(envelope, schemas, mode)),
  };
}

function findingOf(
  envelope: A2AEnvelope,
  schemas: Pick<PayloadSchemas, 'check'>,
  mode: 'warn' | 'strict',
): ReceiveFinding | undefined {
  const type = payloadTypeOf(envelope);
  const reading = type && readPayload(type, envelope.payload);
  const payload = reading === undefined ? envelope.payload : reading.payload;
  const schemaId = schemaOf(envelope, type, payload);
  const check = schemaId === undefined ? undefined : schemas.check(schemaId, subjectOf(type, payload));
  const structure =
    reading === undefined || reading.isValid
      ? []
      : [`it is no payload of ${type}: ${faultsOf(new z.ZodError([...reading.issues]), payload)}`];
  const reasons = [...structure, ...reasonsOf(schemaId, check)];
  if (reasons.length === 0) return undefined;
  const reason = `The payload is not as it should be: ${reasons.join('; ')}`;
  const details = {
    ...(schemaId !== undefined && { schemaId }),
    ...(check?.outcome === 'invalid' && { faults: check.faults }),
  };
  const isOnlyUnknown = structure.length === 0 && check?.outcome === 'unknown';
  return mode === 'warn' || isOnlyUnknown
    ? { action: 'warn', reason, details }
    : { action: 'refuse', code: 'INVALID_PAYLOAD', reason, details };
}

function payloadTypeOf({ type, payload, metadata }: A2AEnvelope): PayloadType | undefined {
  const told = PAYLOAD_TYPES.find((one) => one === meshTypeIn(metadata));
  if (told !== undefined || metadata?.['meshType'] !== undefined) return told;
  // A request of ours is one of AgentMesh's if it has an intent that has a standard schema; an answer, if it names its schema.
  if (type === 'request') return intentSchema(payload) === undefined ? undefined : 'REQUEST';
  return type === 'response' && isSchemaId(fieldOf(payload, 'schema')) ? 'RESPONSE' : undefined;
}

const isSchemaId = (id: unknown): boolean =>
  typeof id === 'string' && (Object.hasOwn(STANDARD_SCHEMAS, id) || isCustomSchemaId(id));

const fieldOf = (payload: unknown, name: string): unknown =>
  (payload as Record<string, unknown> | null | undefined)?.[name];

function intentSchema(payload: unknown): string | undefined {
  const intent = fieldOf(payload, 'intent');
  return typeof intent === 'string' && Object.hasOwn(INTENT_SCHEMAS, intent)
    ? INTENT_SCHEMAS[intent]
    : undefined;
}

function schemaOf(
  { schema }: A2AEnvelope,
  type: PayloadType | undefined,
  payload: unknown,
): string | undefined {
  if (schema !== undefined) return schema;
  if (type === 'REQUEST') return intentSchema(payload);
  const declared = type === 'RESPONSE' ? fieldOf(payload, 'schema') : undefined;
  return typeof declared === 'string' ? declared : undefined;
}

/** What of a payload a schema is about: the parameters of a request, the results of a response, a payload of another type itself. */
function subjectOf(type: PayloadType | undefined, payload: unknown): unknown {
  if (type === 'REQUEST') return fieldOf(payload, 'parameters');
  if (type !== 'RESPONSE') return payload;
  const results = fieldOf(payload, 'results');
  return Array.isArray(results) ? { results } : results;
}

/** No warning is longer than what somebody reads. */
const MAX_TOLD = 5;

function reasonsOf(schemaId: string | undefined, check: SchemaCheck | undefined): string[] {
  if (check === undefined || check.outcome === 'valid') return [];
  if (check.outcome !== 'invalid') return [check.reason];
  const told = check.faults.slice(0, MAX_TOLD).map(textOf);
  const more = check.faults.length - told.length;
  return [`by ${schemaId}, ${told.join(', ')}${more > 0 ? `, and ${more} more` : ''}`];
}

const textOf = ({ path, message }: SchemaFault): string => `${path === '' ? 'the whole' : path} ${message}`;
