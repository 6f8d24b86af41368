import { z } from 'zod';

/**
 * What a message of a sync channel is.
 *
 * - `hello`    the source has joined.
 * - `update`   a change of the document; the only kind that is counted.
 * - `ask`      sync step 1 of y-protocols: what is missing, by the state vector in the payload.
 * - `state`    sync step 2: what the asking member lacked.
 * - `presence` the source's awareness state, and a sign of life.
 * - `leave`    the source has closed its channel.
 */
export const SyncKind = z.enum(['hello', 'update', 'ask', 'state', 'presence', 'leave']);
export type SyncKind = z.infer<typeof SyncKind>;

const Bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'bytes');

const MAX_CLOCK_ENTRIES = 4_096;

const Counts = z
  .record(z.string(), z.int().nonnegative())
  .refine((counts) => Object.keys(counts).length <= MAX_CLOCK_ENTRIES, 'Too many entries');

const fields = <Data extends z.ZodType>(bytes: Data) => ({
  channelId: z.string().min(1),
  kind: SyncKind,
  sourceAgentId: z.string().min(1),
  session: z.int().nonnegative(),
  since: z.int().nonnegative().optional(),
  clientId: z.int().nonnegative(),
  vectorClock: Counts,
  sessions: Counts.optional(),
  operationId: z.string().min(1).max(200),
  inReplyTo: z.string().max(200).optional(),
  stateVector: bytes.optional(),
  digest: z.string().max(100).optional(),
  timestamp: z.number(),
  payload: bytes,
  signature: bytes,
});

const countsItsSource = ({ vectorClock, sourceAgentId }: { vectorClock: object; sourceAgentId: string }) =>
  Object.hasOwn(vectorClock, sourceAgentId);

const NOT_COUNTED = { message: 'an entry of the source', path: ['vectorClock'] };

/**
 * One message of a sync channel: a `CRDTSyncMessage` with what makes it safe to act on.
 *
 * - `session`     the stay of the source in the channel: Unix milliseconds when it joined; only ever grows.
 * - `since`       how many updates the source had counted when this stay began; absent while it is still joining.
 * - `clientId`    the Yjs client id that the source writes under.
 * - `vectorClock` how many updates of each member the source had applied, its own, this one included.
 * - `sessions`    of `state`: the stays that its clock counts.
 * - `operationId` names the message, so that a second arrival is recognised.
 * - `inReplyTo`   operation id of the `ask` or `hello` that it answers.
 * - `stateVector` of `state`: the source's own, in the encoding of Yjs.
 * - `digest`      of the source's document; equal digests mean equal documents, deletions included.
 * - `timestamp`   Unix milliseconds.
 * - `payload`     an update, a state vector or an awareness update, in the encoding of Yjs, or empty.
 * - `signature`   Ed25519, 64 bytes, over `signedBytes`.
 */
export const SyncMessage = z.strictObject(fields(Bytes)).refine(countsItsSource, NOT_COUNTED);
export type SyncMessage = z.infer<typeof SyncMessage>;

const Base64Bytes = z.codec(z.base64(), Bytes, {
  decode: (text) => new Uint8Array(Buffer.from(text, 'base64')),
  encode: (bytes) => Buffer.from(bytes).toString('base64'),
});

/** The message as JSON carries it: bytes in base64. Decodes to a `SyncMessage`. */
export const SyncMessageJson = z.strictObject(fields(Base64Bytes)).refine(countsItsSource, NOT_COUNTED);

/** What the signature covers: every field and every byte of the payload. */
export function signedBytes(message: Omit<SyncMessage, 'signature'>): Uint8Array {
  const { sessions, stateVector, payload } = message;
  const header = JSON.stringify([
    'orrery-sync-1',
    message.channelId,
    message.kind,
    message.sourceAgentId,
    message.session,
    message.since ?? null,
    message.clientId,
    sorted(message.vectorClock),
    sessions === undefined ? null : sorted(sessions),
    message.operationId,
    message.inReplyTo ?? null,
    stateVector === undefined ? null : Buffer.from(stateVector).toString('base64'),
    message.digest ?? null,
    message.timestamp,
    payload.length,
  ]);
  // JSON text holds no NUL, so the header ends where it says.
  return Buffer.concat([Buffer.from(header), NUL, payload]);
}

const NUL = Buffer.of(0);

const sorted = (counts: Readonly<Record<string, number>>): [string, number][] =>
  Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1));
