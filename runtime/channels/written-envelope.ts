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

/** A payload that is JSON already: it crosses as it is. Whoever makes one answers for what it says. */
export class WrittenPayload {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  toJSON(): unknown {
    return JSON.parse(this.json);
  }
}

/**
 * Writes an envelope of `sender`. Throws INVALID_ENVELOPE, SCHEMA_VERSION_MISMATCH or NOT_SERIALISABLE for what is no
 * envelope of that agent, or cannot cross in `maxBytes`.
 */
export function writeEnvelope(envelope: A2AEnvelope, sender: string, maxBytes: number): WrittenEnvelope {
  const parsed = ownEnvelope(envelope, sender);
  const { payload, ...head } = parsed;
  const isWritten = payload instanceof WrittenPayload;
  const fault =
    (isWritten ? undefined : findUnserialisable(payload, 'payload')) ??
    findUnserialisable(parsed.metadata ?? {}, 'metadata');
  if (fault !== undefined) throw notSerialisable(fault.path, fault.kind);
  const { deadlineAtMs } = parsed.metadata ?? {};
  const written = isWritten ? head : parsed;
  const text = JSON.stringify(deadlineAtMs === undefined ? written : withoutDeadline(written));
  const json = isWritten ? `${text.slice(0, -1)},"payload":${payload.json}}` : text;
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes)
    throw invalidEnvelope(`its ${bytes} bytes are more than the ${maxBytes} that a frame carries`);
  return { envelopeId: parsed.id, json, bytes, deadlineAtMs };
}

const withoutDeadline = ({ metadata, ...envelope }: Omit<A2AEnvelope, 'payload'>): object => {
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
