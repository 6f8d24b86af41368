import { z } from 'zod';
import { refused } from '../../../runtime/protocol/errors.ts';
import { FreshJsonFields, type JsonValue } from '../../../runtime/protocol/json-value.ts';
import { goStruct, goTime, timeOfGo } from './go-json.ts';

/** The protocol id of Lango's streams of A2A (seed 0). */
export const LANGO_PROTOCOL = '/lango/a2a/1.0.0';

/** What a peer is told whose token is that of no session (seed 0). */
export const INVALID_TOKEN = 'invalid or expired session token';

export type JsonObject = Record<string, JsonValue>;

/** A text that Go leaves empty where it is missing or null. */
const text = (most: number) =>
  z
    .string()
    .max(most)
    .nullish()
    .transform((value) => value ?? '');
const fields = FreshJsonFields.nullish().transform((value) => value ?? undefined);

/**
 * What a peer asks.
 *
 * - `type`         `tool_invoke`, `capability_query` or `agent_card`; others are answered with an error.
 * - `sessionToken` of a session that the asked peer has begun.
 * - `requestId`    a UUID; any text up to 128 characters is answered.
 * - `payload`      of `tool_invoke`: `toolName` and `params`.
 */
export interface LangoRequest {
  readonly type: string;
  readonly sessionToken: string;
  readonly requestId: string;
  readonly payload?: JsonObject | undefined;
}

export const LangoStatus = z.enum(['ok', 'error', 'denied']);
export type LangoStatus = z.infer<typeof LangoStatus>;

/**
 * What a peer answers.
 *
 * - `requestId`        of the request; empty if that could not be read.
 * - `result`           Go leaves an empty one out.
 * - `error`            if the status is not `ok`.
 * - `attestationProof` what `ZKAttestFunc` has made for this result.
 * - `timestampMs`      Unix milliseconds.
 */
export interface LangoResponse {
  readonly requestId: string;
  readonly status: LangoStatus;
  readonly result?: JsonObject | undefined;
  readonly error?: string | undefined;
  readonly attestationProof?: Uint8Array | undefined;
  readonly timestampMs: number;
}

const MAX_ID = 128;
const MAX_TOKEN = 512;
const MAX_PROOF_TEXT = 65_536;

const RequestOnWire = z.object({
  type: text(MAX_ID),
  sessionToken: text(MAX_TOKEN),
  requestId: text(MAX_ID),
  payload: fields,
});

const ResponseOnWire = z.object({
  requestId: text(MAX_ID),
  status: LangoStatus,
  result: fields,
  error: z.string().nullish(),
  attestationProof: z.base64().max(MAX_PROOF_TEXT).nullish(),
  timestamp: z.string().max(MAX_ID),
});

export const encodeRequest = ({ type, sessionToken, requestId, payload }: LangoRequest): Uint8Array =>
  documentOf(goStruct({ type, sessionToken, requestId, payload: unlessEmpty(payload) }));

export const encodeResponse = (response: LangoResponse): Uint8Array => {
  const { requestId, status, result, error, attestationProof, timestampMs } = response;
  const proof = attestationProof === undefined ? '' : Buffer.from(attestationProof).toString('base64');
  return documentOf(
    goStruct({
      requestId,
      status,
      result: unlessEmpty(result),
      error: error === '' ? undefined : error,
      attestationProof: proof === '' ? undefined : proof,
      timestamp: goTime(timestampMs),
    }),
  );
};

/** Throws REFUSED for what is no request. */
export const decodeRequest = (document: string): LangoRequest => parsed(RequestOnWire, document);

/** Throws REFUSED for what is no response. */
export function decodeResponse(document: string): LangoResponse {
  const { timestamp, attestationProof, error, ...others } = parsed(ResponseOnWire, document);
  const timestampMs = timeOfGo(timestamp);
  if (timestampMs === undefined) throw refused('Its timestamp is no time of RFC 3339');
  return {
    ...others,
    ...(error ? { error } : {}),
    ...(attestationProof ? { attestationProof: Buffer.from(attestationProof, 'base64') } : {}),
    timestampMs,
  };
}

/** A JSON object as Go's encoder ends it. */
export const documentOf = (json: string): Uint8Array => Buffer.from(`${json}\n`);

/** What a document says, by its schema. Throws REFUSED; the text names a field, and shows nothing of what came. */
export function parsed<Schema extends z.ZodType>(schema: Schema, document: string): z.output<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(document);
  } catch {
    throw refused('It is no JSON');
  }
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw refused(`Its field ${error.issues[0]?.path[0]?.toString() ?? ''} is none that fits`);
}

const unlessEmpty = (value: JsonObject | undefined): JsonObject | undefined =>
  value === undefined || Object.keys(value).length === 0 ? undefined : value;
