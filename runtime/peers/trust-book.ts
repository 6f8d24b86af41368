import type { Trust } from './trust.ts';

/** Whom a node lets in: entries in the order in which they were given, and the keys that it lets in no more. */
export interface TrustBook {
  readonly trust: readonly Trust[];
  readonly revoked: readonly string[];
}

/** With this entry, which takes the place of one for the same key. */
export const trusting = ({ trust, revoked }: TrustBook, entry: Trust): TrustBook => ({
  trust: [...trust.filter(({ key }) => key !== entry.key), entry],
  revoked: revoked.filter((key) => key !== entry.key),
});

/** Without this key, also where `*` would let it in. */
export const revoking = ({ trust, revoked }: TrustBook, publicKey: string): TrustBook => ({
  trust: trust.filter(({ key }) => key !== publicKey),
  revoked: [...revoked.filter((key) => key !== publicKey), publicKey],
});

/** The entry for a key: its own, or that for any. */
export function trustOf({ trust, revoked }: TrustBook, publicKey: string): Trust | undefined {
  if (revoked.includes(publicKey)) return undefined;
  return trust.find(({ key }) => key === publicKey) ?? trust.find(({ key }) => key === '*');
}

/** Whether entries give a name to others alone. */
export const isNameOfOthers = ({ trust }: TrustBook, node: string, own: Trust): boolean =>
  own.node !== node && trust.some((entry) => entry.node === node);

/** Whether a key takes over the name of another: entries give it to both, and the later one to this. */
export function takesOver({ trust }: TrustBook, node: string, keys: { by: string; from: string }): boolean {
  const at = (publicKey: string): number =>
    trust.findIndex((entry) => entry.key === publicKey && entry.node === node);
  const [by, from] = [at(keys.by), at(keys.from)];
  return from >= 0 && by > from;
}

/** Whether agents are judged alike under two entries. */
export function judgesAlike(one: Trust, other: Trust): boolean {
  const judged = ({ node, tier, sandboxId, tenant, roles, trusted, agents }: Trust): string =>
    JSON.stringify([node, tier, sandboxId === undefined ? [] : sandboxId, tenant, roles, trusted, agents]);
  return judged(one) === judged(other);
}
