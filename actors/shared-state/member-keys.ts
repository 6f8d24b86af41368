import type { KeyObject } from 'node:crypto';
import { publicKeyFrom, type SigningKeyPair, signingKeyPair } from '../../runtime/protocol/signing.ts';

export { isSignedBy, signBytes } from '../../runtime/protocol/signing.ts';

/** Where the public keys of a channel's members are kept. Read for every message, so it answers at once. */
export interface MemberKeys {
  get(agentId: string): KeyObject | undefined;
  set(agentId: string, publicKey: KeyObject): void;
  delete(agentId: string): void;
}

/** Keys that last as long as the process. */
export class InMemoryMemberKeys implements MemberKeys {
  readonly #keys = new Map<string, KeyObject>();

  get(agentId: string): KeyObject | undefined {
    return this.#keys.get(agentId);
  }

  set(agentId: string, publicKey: KeyObject): void {
    this.#keys.set(agentId, publicKey);
  }

  delete(agentId: string): void {
    this.#keys.delete(agentId);
  }
}

/** The keys with which one member signs. */
export type MemberKeyPair = SigningKeyPair;

/** A new Ed25519 key pair (RFC 8032) for one member. */
export const memberKeyPair = (): MemberKeyPair => signingKeyPair();

/** The key that verifies what its member signed; throws INVALID_OPTIONS unless it is 32 bytes in base64url. */
export const memberKeyFrom = (publicKey: string): KeyObject => publicKeyFrom(publicKey, 'member.publicKey');
