import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { SigningKeyPair } from '../protocol/signing.ts';
import { Chance } from './chance.ts';

/** What stands before the 32 bytes of a private Ed25519 key (RFC 8410, PKCS 8). */
const PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The key of a node, by the seed: it keeps it over all its lives. */
export function simulatedKey(seed: number, node: string): SigningKeyPair {
  const chance = new Chance(seed, `key of ${node}`);
  const secret = Buffer.from(Array.from({ length: 32 }, () => Math.floor(chance.next() * 256)));
  const privateKey = createPrivateKey({ key: Buffer.concat([PREFIX, secret]), format: 'der', type: 'pkcs8' });
  return { publicKey: createPublicKey(privateKey).export({ format: 'jwk' }).x as string, privateKey };
}
