import { type A2AEnvelope, parseEnvelope } from '../protocol/envelope.ts';
import { invalidEnvelope, notSerialisable } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json.ts';

/** An envelope as it crosses. Not its deadline, but the time left until it crosses: the other clock may differ. */
export interface WrittenEnvelope {
  readonly envelopeId: string;
  readonly json: string;
  readonly bytes: number;
  readonly deadlineAtMs: number | undefined;
}

/**
 * Writes an envelope of `sender`. Throws INVALID_ENVELOPE, SCHEMA_VERSION_MISMATCH or NOT_SERIALISABLE for what is no
 * envelope of that agent, or cannot cross in `maxBytes`.
 */
export function writeEnvelope(envelope: A2AEnvelope, sender: string, maxBytes: number): WrittenEnvelope {
  const parsed = ownEnvelope(envelope, sender);
  const fault =
    findUnserialisable(parsed.payload, 'payload') ?? findUnserialisable(parsed.metadata ?? {}, 'metadata');
  if (fault !== undefined) throw notSerialisable(fault.path, fault.kind);
  const { deadlineAtMs } = parsed.metadata ?? {};
  const json = JSON.stringify(deadlineAtMs === undefined ? parsed : withoutDeadline(parsed));
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes)
    throw invalidEnvelope(`its ${bytes} bytes are more than the ${maxBytes} that a frame carries`);
  return { envelopeId: parsed.id, json, bytes, deadlineAtMs };
}

const withoutDeadline = ({ metadata, ...envelope }: A2AEnvelope): object => {
  const { deadlineAtMs: _deadlineAtMs, ...others } = metadata as NonNullable<typeof metadata>;
  return { ...envelope, metadata: others };
};

/** The received envelope, with its deadline by the local clock. */
export function withDeadline(
  envelope: A2AEnvelope,
  deadlineMs: number | undefined,
  nowMs: number,
): A2AEnvelope {
  if (deadlineMs === undefined) return envelope;
  return { ...envelope, metadata: { tier: 3, ...envelope.metadata, deadlineAtMs: nowMs + deadlineMs } };
}

/** The envelope if it is one of `sender`; else throws INVALID_ENVELOPE or SCHEMA_VERSION_MISMATCH. */
export function ownEnvelope(envelope: A2AEnvelope, sender: string): A2AEnvelope {
  const parsed = parseEnvelope(envelope);
  if (parsed.sender === sender) return parsed;
  throw invalidEnvelope(`sender: "${parsed.sender}" sends over a channel of "${sender}"`);
}
