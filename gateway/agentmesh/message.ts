import { z } from 'zod';
import type { AgentTier } from '../../runtime/protocol/agent-card.ts';
import { Budget } from '../../runtime/protocol/budget.ts';
import type { A2AEnvelope, A2AMessageType, EnvelopeMetadata } from '../../runtime/protocol/envelope.ts';
import { invalidEnvelope } from '../../runtime/protocol/errors.ts';
import { SCHEMA_VERSION } from '../../runtime/protocol/message-types.ts';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import { inSnakeCase, otherSpellings, PAYLOAD_TYPES, type PayloadType, readPayload } from './payloads.ts';
import { tooLarge } from './value-limits.ts';

/** The types of AgentMesh's messages: those of payloads, and the two of the negotiation of capabilities. */
export const MESH_TYPES = [
  ...PAYLOAD_TYPES,
  'CAPABILITY_NEGOTIATION',
  'CAPABILITY_NEGOTIATION_RESPONSE',
] as const;
export type MeshType = (typeof MESH_TYPES)[number];

/**
 * One message of a session of AgentMesh, as it is inside.
 *
 * - `sequence`     its number in the session, from 0.
 * - `timestamp`    Unix milliseconds.
 * - `payload`      as it came. It is not judged here: that is the matter of `payloadSchemas`.
 * - `deadlineAtMs` Unix milliseconds after which nobody waits for it.
 */
export interface MeshMessage {
  readonly type: MeshType;
  readonly sessionId: string;
  readonly sequence: number;
  readonly from?: string;
  readonly to?: string;
  readonly timestamp: number;
  readonly payload: unknown;
  readonly schema?: string;
  readonly deadlineAtMs?: number;
}

/** Other names of types. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  CAPABILITY_REQUEST: 'CAPABILITY_NEGOTIATION',
  CAPABILITY_RESPONSE: 'CAPABILITY_NEGOTIATION_RESPONSE',
};

const Name = z.string().min(1).max(256);
const WireMessage = z.object({
  type: z.preprocess((type) => {
    const name = typeof type === 'string' ? type.toUpperCase() : type;
    return (typeof name === 'string' && Object.hasOwn(OTHER_NAMES, name) && OTHER_NAMES[name]) || name;
  }, z.enum(MESH_TYPES)),
  session_id: Name,
  sequence: z
    .int()
    .nonnegative()
    .transform((sequence) => sequence + 0),
  from: Name.optional(),
  to: Name.optional(),
  timestamp: z.union([z.string().max(64), z.number()]).transform((time, context) => {
    const atMs = millisecondsOf(time);
    if (atMs >= 0 && atMs <= LAST_MS) return atMs;
    context.addIssue({
      code: 'custom',
      message: 'a time as ISO 8601 has it, or a number of seconds',
      input: time,
    });
    return z.NEVER;
  }),
  payload: z.unknown(),
  schema: Name.nullish(),
  deadline_ms: z.number().nonnegative().optional(),
});

const SPELLINGS = otherSpellings(Object.keys(WireMessage.shape));

/** AgentMesh lets nothing larger through. */
const LIMITS = { depth: 64, characters: 65_536 };

/** The last time that a date can say. */
const LAST_MS = 8_640_000_000_000_000;

/** No time in seconds is as large before the year 5138. */
const FIRST_IN_MS = 100_000_000_000;

/** Unix milliseconds of an ISO text, or of a number of seconds or milliseconds. */
function millisecondsOf(time: string | number): number {
  if (typeof time === 'string') return Date.parse(time);
  // JSON has a negative zero.
  return Math.round(time < FIRST_IN_MS ? time * 1_000 : time) + 0;
}

/**
 * Reads a message as it is on the wire, in the seed's spelling or the later one (`sessionId`). `nowMs` is when it came: its deadline
 * counts from there. Throws INVALID_ENVELOPE naming field and fault.
 */
export function readMeshMessage(value: unknown, nowMs: number): MeshMessage {
  const fault = tooLarge(value, LIMITS);
  if (fault !== undefined) throw invalidEnvelope(fault);
  const respelled = inSnakeCase(value, SPELLINGS);
  const parsed = WireMessage.safeParse(respelled);
  if (!parsed.success) throw invalidEnvelope(faultsOf(parsed.error, respelled));
  const { type, session_id, sequence, from, to, timestamp, payload, schema, deadline_ms } = parsed.data;
  return {
    type,
    sessionId: session_id,
    sequence,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    timestamp,
    payload,
    ...(schema != null && { schema }),
    ...(deadline_ms !== undefined && { deadlineAtMs: nowMs + deadline_ms }),
  };
}

/** The message as it is on the wire. `nowMs` is when it is sent: its deadline counts from there. */
export function writeMeshMessage(message: MeshMessage, nowMs: number): Readonly<Record<string, unknown>> {
  const { type, sessionId, sequence, from, to, timestamp, payload, schema, deadlineAtMs } = message;
  return {
    type: type.toLowerCase(),
    session_id: sessionId,
    sequence,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    timestamp: new Date(timestamp).toISOString(),
    payload,
    ...(schema !== undefined && { schema }),
    ...(deadlineAtMs !== undefined && { deadline_ms: Math.max(0, deadlineAtMs - nowMs) }),
  };
}

/** The name of the capability that answers a negotiation. */
const NEGOTIATION = 'capability_negotiation';

const ENVELOPE_TYPES: Readonly<Record<MeshType, A2AMessageType>> = {
  REQUEST: 'request',
  RESPONSE: 'response',
  STATUS: 'notification',
  ERROR: 'error',
  CLOSE: 'notification',
  CAPABILITY_NEGOTIATION: 'request',
  CAPABILITY_NEGOTIATION_RESPONSE: 'response',
};

/**
 * Whose envelope it becomes.
 *
 * - `id`        its id here.
 * - `tier`      the one that the peer was granted, never one that it claims.
 * - `inReplyTo` the id of the envelope that it answers.
 */
export interface EnvelopeOf {
  readonly id: string;
  readonly sender: string;
  readonly recipient: string;
  readonly tier: AgentTier;
  readonly inReplyTo?: string;
}

/**
 * The envelope of a message. Its correlation id is that of the session. `metadata.meshType` says which type of message it was,
 * for STATUS and CLOSE are both notifications. A request's budget in United States dollars is the envelope's too.
 */
export function envelopeOfMessage(
  message: MeshMessage,
  { id, sender, recipient, tier, inReplyTo }: EnvelopeOf,
): A2AEnvelope {
  const { type, sessionId, sequence, timestamp, schema, deadlineAtMs } = message;
  const payload = isPayloadType(type) ? readPayload(type, message.payload).payload : message.payload;
  // An amount that is too large to be counted limits nothing.
  const budget = Budget.safeParse({ costUsd: type === 'REQUEST' ? dollarsOf(payload) : undefined }).data;
  const metadata: EnvelopeMetadata = {
    tier,
    meshType: type,
    ...(type === 'CAPABILITY_NEGOTIATION' && { capability: NEGOTIATION }),
    ...(inReplyTo !== undefined && { inReplyTo }),
    ...(deadlineAtMs !== undefined && { deadlineAtMs }),
    ...(budget?.costUsd !== undefined && { budget }),
  };
  return {
    id,
    schemaVersion: SCHEMA_VERSION,
    sender,
    recipient,
    correlationId: sessionId,
    type: ENVELOPE_TYPES[type],
    timestamp,
    payload,
    metadata,
    session: { id: sessionId, sequence },
    ...(schema !== undefined && { schema }),
  };
}

/**
 * The message of an envelope. `from` and `to` are the AMIDs of the two. Throws INVALID_ENVELOPE for one that has no session, that
 * is of a type AgentMesh has none for, or whose payload is not as that type has it.
 */
export function messageOfEnvelope(
  { type, payload, session, schema, timestamp, metadata }: A2AEnvelope,
  { from, to }: { readonly from?: string; readonly to?: string } = {},
): MeshMessage {
  if (session === undefined) throw invalidEnvelope('session is missing, expected its id and a number');
  const meshType = meshTypeOf(type, metadata);
  const deadlineAtMs = metadata?.deadlineAtMs;
  return {
    type: meshType,
    sessionId: session.id,
    sequence: session.sequence,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    timestamp,
    payload: isPayloadType(meshType) ? payloadToSend(meshType, payload, metadata) : payload,
    ...(schema !== undefined && { schema }),
    ...(deadlineAtMs !== undefined && { deadlineAtMs }),
  };
}

/** The type of message that an envelope was, or is to be. */
function meshTypeOf(type: A2AMessageType, metadata: EnvelopeMetadata | undefined): MeshType {
  const told = meshTypeIn(metadata);
  if (told !== undefined && ENVELOPE_TYPES[told] === type) return told;
  if (type === 'request') return metadata?.capability === NEGOTIATION ? 'CAPABILITY_NEGOTIATION' : 'REQUEST';
  if (type === 'response') return 'RESPONSE';
  if (type === 'error') return 'ERROR';
  if (type === 'notification') return 'STATUS';
  throw invalidEnvelope(`type is "${type}", expected request, response, notification or error`);
}

/** What `metadata.meshType` says, if that is a type of AgentMesh. */
export function meshTypeIn(metadata: EnvelopeMetadata | undefined): MeshType | undefined {
  const told = metadata?.['meshType'];
  return MESH_TYPES.find((type) => type === told);
}

const isPayloadType = (type: MeshType): type is PayloadType =>
  (PAYLOAD_TYPES as readonly string[]).includes(type);

function payloadToSend(type: PayloadType, payload: unknown, metadata: EnvelopeMetadata | undefined): unknown {
  const reading = readPayload(type, payload);
  if (!reading.isValid)
    throw invalidEnvelope(faultsOf(new z.ZodError([...reading.issues]), payload, 'payload'));
  const left = metadata?.budget?.costUsd;
  if (type !== 'REQUEST' || left === undefined) return reading.payload;
  const max = Math.min(left, dollarsOf(reading.payload) ?? left);
  // An amount in another currency cannot be compared with one in dollars.
  const isOther = reading.payload['budget'] !== undefined && dollarsOf(reading.payload) === undefined;
  return isOther ? reading.payload : { ...reading.payload, budget: { max, currency: 'USD' } };
}

function dollarsOf(payload: unknown): number | undefined {
  const { budget } = (payload ?? {}) as { budget?: { max?: unknown; currency?: unknown } | null };
  if (budget?.currency !== 'USD') return undefined;
  return typeof budget.max === 'number' && budget.max >= 0 ? budget.max : undefined;
}
