import { z } from 'zod';
import { AgentTier } from './agent-card.ts';
import { PeerAgreement } from './peer-extension.ts';

/**
 * Another node, as this one sees it.
 *
 * - `publicKey` the key that it has proved: raw Ed25519 in base64url.
 * - `status`    `up`: requests go to it. `awaited`, `rejoining`: they wait for it. `lost`: they fail.
 * - `sinceMs`   Unix milliseconds; since when it has this status.
 * - `tier`      of its agents here.
 * - `transport` what carries its channel now; `address`: where this node has dialled it, unless the other has dialled.
 * - `roundTripMs` how long something takes to it and back, milliseconds: the median of the last five times. Absent while it has no
 *               session, or has not answered yet.
 * - `agreed`    what both have in common, as it said when their session began, if this node negotiates.
 * - `agents`    the ids, there, of the agents that it shows.
 * - `asked`, `served` requests without an outcome: ours there, and its here.
 */
export const PeerRow = z.object({
  node: z.string(),
  publicKey: z.string(),
  status: z.enum(['awaited', 'up', 'rejoining', 'lost', 'revoked']),
  sinceMs: z.number(),
  tier: AgentTier,
  transport: z.enum(['local', 'hyperswarm', 'websocket', 'libp2p']).optional(),
  address: z.string().optional(),
  roundTripMs: z.number().nonnegative().optional(),
  agreed: PeerAgreement.optional(),
  agents: z.array(z.string()).readonly(),
  asked: z.int().nonnegative(),
  served: z.int().nonnegative(),
});
export type PeerRow = Readonly<z.infer<typeof PeerRow>>;
