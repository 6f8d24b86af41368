import { z } from 'zod';
import { NodeId } from '../protocol/a2a-extension.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import type { Clearance } from '../protocol/agent-row.ts';
import { type Requester, requesterOf } from '../protocol/requester.ts';
import { publicKeyFrom } from '../protocol/signing.ts';
import { clearanceUnder, type RemoteGrant } from '../routing/remote-grant.ts';

/** The public key of a node. */
export const NodeKey = z.string().refine(isKey, 'a raw Ed25519 public key in base64url');

function isKey(value: string): boolean {
  try {
    return publicKeyFrom(value).export({ format: 'jwk' }).x === value;
  } catch {
    return false;
  }
}

/**
 * Whom this node lets in, and how their agents are judged, whatever their cards say.
 *
 * - `key`       the public key that the node proves, or `*` for any that no other entry names.
 * - `node`      the name that it may have; of several keys for one name, that of the last entry takes it over from the others.
 *               @default any that no other key has
 * - `tier`      of its agents; never 0, no other node orchestrates this one. @default 3
 * - `sandboxId` of its agents; null for none. @default its name, `/` and what the card says
 * - `tenant`    the tenant that they work for. @default none
 * - `roles`     what they may do, under names of the deployment. @default none
 * - `trusted`   what its agents say counts as this system's own. @default false: it is marked `peer:<node>`
 * - `agents`    the ids that its agents may have: exact, or a beginning and `*`. @default any
 */
export const Trust = z.strictObject({
  key: z.string().refine((key) => key === '*' || isKey(key), 'a raw Ed25519 public key in base64url, or "*"'),
  node: NodeId.optional(),
  tier: z.literal([1, 2, 3], '1, 2 or 3: tier 0 is never remote').default(3),
  sandboxId: z.string().min(1).nullable().optional(),
  tenant: z.string().min(1).exactOptional(),
  roles: z.array(z.string().min(1)).readonly().default([]),
  trusted: z.boolean().default(false),
  agents: z.array(z.string().min(1)).readonly().optional(),
});
export type Trust = z.output<typeof Trust>;

/** Whether an agent of this node may have the id. */
export const mayBeCalled = ({ agents }: Trust, id: string): boolean =>
  agents === undefined ||
  agents.some((allowed) => (allowed.endsWith('*') ? id.startsWith(allowed.slice(0, -1)) : id === allowed));

/** What this node grants an agent of another one. */
export const grantBy = ({ tier, sandboxId }: Trust, nodeId: string): RemoteGrant => ({
  grantedTier: tier,
  nodeId,
  sandboxId,
});

/** For whom is done what they ask. */
export const requesterBy = ({ tenant, roles }: Trust, nodeId: string): Requester =>
  requesterOf({ id: `peer:${nodeId}`, tenant, roles });

/** How such an agent is judged here. */
export const clearanceBy = (trust: Trust, nodeId: string, card: Pick<AgentCard, 'sandboxId'>): Clearance =>
  clearanceUnder(grantBy(trust, nodeId), card);
