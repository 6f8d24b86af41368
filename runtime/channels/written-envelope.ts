import { type A2AEnvelope, parseEnvelope } from '../protocol/envelope.ts';
import { invalidEnvelope, notSerialisable } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json-safety.ts';

/** An envelope as it crosses. */
export interface WrittenEnvelope {
  readonly envelopeId: string;
  readonly json: string;
  readonly bytes: number;
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
  const json = JSON.stringify(parsed);
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes)
    throw invalidEnvelope(`its ${bytes} bytes are more than the ${maxBytes} that a frame carries`);
  return { envelopeId: parsed.id, json, bytes };
}

/** The envelope if it is one of `sender`; else throws INVALID_ENVELOPE or SCHEMA_VERSION_MISMATCH. */
export function ownEnvelope(envelope: A2AEnvelope, sender: string): A2AEnvelope {
  const parsed = parseEnvelope(envelope);
  if (parsed.sender === sender) return parsed;
  throw invalidEnvelope(`sender: "${parsed.sender}" sends over a channel of "${sender}"`);
}
