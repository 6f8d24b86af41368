import { faultsOf } from './payload-faults.ts';
import { z } from 'zod';
import { AgentTier } from './agent-card.ts';
import { Budget } from './budget.ts';
import { invalidEnvelope, schemaVersionMismatch } from './errors.ts';
import { A2A_MESSAGE_TYPES, SCHEMA_VERSION } from './message-types.ts';
import { Requester } from './requester.ts';
import { Taint } from './taint.ts';

/** The recipient that means everybody. */
export const BROADCAST = '*';

export { A2A_MESSAGE_TYPES, SCHEMA_VERSION };

export const A2AMessageType = z.enum(A2A_MESSAGE_TYPES);
export type A2AMessageType = z.infer<typeof A2AMessageType>;

/** Says whether an envelope of this type asks for work: whatever it causes has it on its delegation path. */
export const asksForWork = (type: A2AMessageType): boolean =>
  type === 'request' || type === 'task-proposal' || type === 'stream-start';

/** What happens to an envelope whose handling a death cut off. `once`: its sender is told. `retry`: it is tried again. */
export const Delivery = z.enum(['once', 'retry']);
export type Delivery = z.infer<typeof Delivery>;

/** One request, proposal or stream above an envelope: the agent, the capability, and the id of its envelope. */
export const PathHop = z.object({ agent: z.string(), capability: z.string(), envelopeId: z.string() });
export type PathHop = z.infer<typeof PathHop>;

/**
 * What an envelope carries beside its payload. Known fields are checked; unknown ones from a newer peer are kept.
 *
 * - `tier`, `sandboxId`         of the sender, from its registered card.
 * - `routingHint`               `capability`: the recipient is a capability id.
 * - `capability`                which handler of the recipient is meant.
 * - `escalationJustification`   why a lower tier writes to a higher one.
 * - `inReplyTo`                 id of the envelope that this one answers.
 * - `deadlineAtMs`              Unix milliseconds after which nobody waits for it; only ever narrows.
 * - `path`                      the requests, proposals and streams that caused this envelope, oldest first.
 * - `delivery`                  overrides the recipient's own choice.
 * - `resumeFrom`                what an attempt elsewhere has kept of the same work.
 * - `budget`                    what could be spent on it, and on all it causes, when it was sent; only ever narrows.
 * - `requester`                 the caller outside for whom the work is done, by its credentials; all that it causes has the
 *                               same.
 * - `taint`                     the sources outside from which its content came; only ever grows.
 * - `traceparent`, `tracestate` where in a trace it is, as W3C writes that; what is none is dropped.
 */
export const EnvelopeMetadata = z.looseObject({
  tier: AgentTier,
  sandboxId: z.string().optional(),
  routingHint: z.literal('capability').optional(),
  capability: z.string().optional(),
  escalationJustification: z.string().optional(),
  inReplyTo: z.string().optional(),
  deadlineAtMs: z.number().optional(),
  path: z.array(PathHop).optional(),
  delivery: Delivery.optional(),
  resumeFrom: z.unknown().optional(),
  budget: Budget.optional(),
  taint: Taint.optional(),
  requester: Requester.optional(),
});
export type EnvelopeMetadata = z.infer<typeof EnvelopeMetadata>;

/** Position in a numbered session between two peers; the first envelope is 0. */
export const SessionPosition = z.object({ id: z.string(), sequence: z.int().nonnegative() });
export type SessionPosition = z.infer<typeof SessionPosition>;

/** The message wrapper of all agent-to-agent traffic (seed 1). `timestamp` is Unix milliseconds. */
export const A2AEnvelope = z.object({
  id: z.string().min(1),
  schemaVersion: z.int().positive(),
  sender: z.string().min(1),
  recipient: z.string().min(1),
  correlationId: z.string().optional(),
  type: A2AMessageType,
  timestamp: z.number(),
  payload: z.unknown(),
  metadata: EnvelopeMetadata.optional(),
  session: SessionPosition.optional(),
  schema: z.string().optional(),
});
export type A2AEnvelope = z.infer<typeof A2AEnvelope>;

/** Parses an envelope. Throws SCHEMA_VERSION_MISMATCH, or INVALID_ENVELOPE naming field and fault. */
export function parseEnvelope(value: unknown): A2AEnvelope {
  const version = (value as { schemaVersion?: unknown } | null | undefined)?.schemaVersion;
  if (version !== undefined && version !== SCHEMA_VERSION)
    throw schemaVersionMismatch(SCHEMA_VERSION, version);
  const parsed = A2AEnvelope.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidEnvelope(faultsOf(parsed.error, value));
}

/** The envelope as JSON text; its fields and `schemaVersion` survive the way there and back. */
export const serializeEnvelope = (envelope: A2AEnvelope): string => JSON.stringify(envelope);

/** Reads `serializeEnvelope`'s text; fails as `parseEnvelope` does, and with INVALID_ENVELOPE on broken JSON. */
export function deserializeEnvelope(json: string): A2AEnvelope {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw invalidEnvelope(`not JSON: ${(error as Error).message}`);
  }
  return parseEnvelope(value);
}
