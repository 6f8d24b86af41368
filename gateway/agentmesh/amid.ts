import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { invalidOptions } from '../../runtime/protocol/errors.ts';

const KEY_BYTES = 32;
const AMID_BYTES = 20;

/**
 * The id of an agent of AgentMesh: the first 20 bytes of SHA-256 of its raw Ed25519 public key, in base58 as Bitcoin has it. Throws
 * INVALID_OPTIONS for a key that is not 32 bytes long.
 */
export function amidOf(signingPublicKey: Uint8Array): string {
  if (signingPublicKey.length !== KEY_BYTES)
    throw invalidOptions('signingPublicKey', `${signingPublicKey.length} bytes`, `${KEY_BYTES} bytes`);
  const hash = createHash('sha256').update(signingPublicKey).digest();
  return base58.encode(new Uint8Array(hash.subarray(0, AMID_BYTES)));
}

/** Says whether a text is an AMID: 20 bytes in base58. */
export function isAmid(text: string): boolean {
  // The time to decode grows with the square of the length.
  if (text.length < AMID_BYTES || text.length > 28) return false;
  try {
    return base58.decode(text).length === AMID_BYTES;
  } catch {
    return false;
  }
}

/** The decentralised identifier of an agent. */
export const didOf = (amid: string): string => `did:agentmesh:${amid}`;
