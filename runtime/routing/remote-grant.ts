import type { AgentCard, AgentTier } from '../protocol/agent-card.ts';
import { invalidOptions } from '../protocol/errors.ts';
import type { Standing } from './routing-table.ts';

/** The node of remote cards of which nothing better is known. */
export const UNKNOWN_NODE = 'remote';

/**
 * How a remote agent is judged, whatever its card says.
 *
 * - `grantedTier` never 0: no other node orchestrates this one. @default 3
 * - `nodeId`      the sandbox that its card names counts as `<nodeId>/<sandboxId>`. @default 'remote'
 */
export interface RemoteGrant {
  readonly grantedTier?: AgentTier | undefined;
  readonly nodeId?: string | undefined;
}

/** The standing of a remote card under a grant. Fails with INVALID_OPTIONS on tier 0. */
export function standingUnder(
  { grantedTier = 3, nodeId = UNKNOWN_NODE }: RemoteGrant,
  { sandboxId }: AgentCard,
): Standing {
  if (grantedTier === 0)
    throw invalidOptions('grantedTier', grantedTier, '1, 2 or 3: tier 0 is never remote');
  return { tier: grantedTier, sandboxId: sandboxId === undefined ? undefined : `${nodeId}/${sandboxId}` };
}
