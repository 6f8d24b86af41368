import type { SystemPeers } from 'orrery';
import { printable } from '@orrery/ralph-loop';
import type { NodePlan } from './node-plan.ts';
import type { TrustEntry } from './trust-file.ts';

/** What a node prints of itself when it has started. */
export interface NodeFacts {
  readonly node: string;
  readonly publicKey: string;
  readonly addresses: readonly string[];
  readonly keyFile: string;
  readonly trustFile: string;
  readonly trust: readonly Pick<TrustEntry, 'key' | 'node' | 'tier'>[];
  /** What `--peer-trust` names although it was revoked. */
  readonly alsoRevoked: readonly string[];
  /** What it says to others may be read on the way. */
  readonly isPlain: boolean;
}

export const nodeFacts = (
  { node, publicKey, addresses }: SystemPeers,
  { keyFile, trustFile, peers: { trust = [], revoked = [] }, alsoRevoked, isPlain }: NodePlan,
): NodeFacts => ({
  node: String(node),
  publicKey: String(publicKey),
  addresses,
  keyFile,
  trustFile: trustFile.path,
  trust: trust.flatMap(({ key, node: name, tier }) =>
    revoked.includes(key) ? [] : [{ key, ...(name && { node: name }), ...(tier && { tier }) }],
  ),
  alsoRevoked,
  isPlain,
});

/** Formats the facts as text, with what is to be typed on the other machine. */
export function nodeLines(facts: NodeFacts): string[] {
  const { node, publicKey, addresses, keyFile, trustFile, trust, alsoRevoked, isPlain } = facts;
  const [address] = addresses;
  const where = address === undefined ? '' : ` --peer ${address}`;
  return [
    `Node ${node} of a team on several machines`,
    `  Key: ${publicKey}, kept in ${keyFile}`,
    ...addresses.map((one) => `  At: ${one}`),
    ...(trust.length === 0 ? ['  It lets in nobody yet'] : trust.map(trustLine)),
    ...alsoRevoked.map(
      (key) => `  Not ${key}: it was revoked. 'orrery peers --trust=${key}' lets it in again`,
    ),
    ...(isPlain
      ? ['  What goes over ws:// can be read on the way: --tls-key and --tls-cert make it wss://']
      : []),
    `  On another machine: orrery up --node NAME${where} --peer-trust=${publicKey}=${node}`,
    `  Here: 'orrery peers --trust=KEY=NAME' lets that one in, 'orrery peers' shows it. Kept in ${trustFile}`,
  ].map(printable);
}

const trustLine = ({ key, node, tier = 3 }: NodeFacts['trust'][number]): string =>
  `  Lets in ${node === undefined ? 'whoever has the key' : `${node} with the key`} ${key}, as tier ${tier}`;
