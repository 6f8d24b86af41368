import type { AgentCard, AgentTier } from '../protocol/agent-card.ts';
import { invalidOptions } from '../protocol/errors.ts';
import type { Clearance } from '../protocol/agent-row.ts';

/** The node id of remote cards whose node is not known. */
export const UNKNOWN_NODE = 'remote';

/**
 * How a remote agent is judged, whatever its card says.
 *
 * - `grantedTier` never 0: no other node orchestrates this one. @default 3
 * - `nodeId`      the id of its node, without `/`. The sandbox that its card names counts as `<nodeId>/<sandboxId>`; a card that
 *                 names none is in `<nodeId>/`. @default 'remote'
 * - `sandboxId`   its sandbox, whatever its card names; null for none. @default that of `nodeId` and card
 */
export interface RemoteGrant {
  readonly grantedTier?: AgentTier | undefined;
  readonly nodeId?: string | undefined;
  readonly sandboxId?: string | null | undefined;
}

/** The clearance of a remote card under a grant. Fails with INVALID_OPTIONS on tier 0 and on a node id with `/` in it. */
export function clearanceUnder(
  { grantedTier = 3, nodeId = UNKNOWN_NODE, sandboxId: granted }: RemoteGrant,
  { sandboxId = '' }: Pick<AgentCard, 'sandboxId'>,
): Clearance {
  if (grantedTier === 0)
    throw invalidOptions('grantedTier', grantedTier, '1, 2 or 3: tier 0 is never remote');
  // Else one node could name a sandbox of another.
  if (nodeId.includes('/')) throw invalidOptions('nodeId', nodeId, 'an id without "/"');
  const itsOwn = `${nodeId}/${sandboxId}`;
  return { tier: grantedTier, sandboxId: granted === undefined ? itsOwn : (granted ?? undefined), nodeId };
}
