import type { AgentCard, AgentTier } from '../protocol/agent-card.ts';
import { invalidOptions } from '../protocol/errors.ts';
import type { Clearance } from '../protocol/agent-row.ts';

/** The node of remote cards of which nothing better is known. */
export const UNKNOWN_NODE = 'remote';

/**
 * How a remote agent is judged, whatever its card says.
 *
 * - `grantedTier` never 0: no other node orchestrates this one. @default 3
 * - `nodeId`      whose agent it is: the sandbox that its card names counts as `<nodeId>/<sandboxId>`, and a card that names
 *                 none is in `<nodeId>/`. Has no `/` in it. @default 'remote'
 */
export interface RemoteGrant {
  readonly grantedTier?: AgentTier | undefined;
  readonly nodeId?: string | undefined;
}

/** The clearance of a remote card under a grant. Fails with INVALID_OPTIONS on tier 0 and on a node id with `/` in it. */
export function clearanceUnder(
  { grantedTier = 3, nodeId = UNKNOWN_NODE }: RemoteGrant,
  { sandboxId = '' }: Pick<AgentCard, 'sandboxId'>,
): Clearance {
  if (grantedTier === 0)
    throw invalidOptions('grantedTier', grantedTier, '1, 2 or 3: tier 0 is never remote');
  // Else a sandbox of one node could be spelled as that of another.
  if (nodeId.includes('/')) throw invalidOptions('nodeId', nodeId, 'an id without "/"');
  return { tier: grantedTier, sandboxId: `${nodeId}/${sandboxId}`, nodeId };
}
