import { createHash } from 'node:crypto';
import { notSerialisable } from '../../runtime/protocol/errors.ts';

/**
 * The SHA-256 that an attestation is of: of a result's canonical JSON (RFC 8785), 32 bytes. Whoever checks a proof computes it
 * anew of what they have got. Rejects with NOT_SERIALISABLE for what is no JSON. Needs the package `canonicalize`.
 */
export async function responseHash(result: unknown): Promise<Uint8Array> {
  // Loaded where something is attested: nothing else here needs it.
  const { default: canonicalize } = await import('canonicalize');
  const text = canonicalize(result);
  if (text === undefined) throw notSerialisable('result', typeof result);
  return sha256(text);
}

export const sha256 = (text: string): Uint8Array => createHash('sha256').update(text).digest();
