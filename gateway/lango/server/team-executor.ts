import type { JsonValue } from '../../../runtime/protocol/json-value.ts';
import { chargedName } from '../../../runtime/protocol/principal.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { ToolService } from '../../../runtime/protocol/tool-service.ts';
import { CallerRights } from '../../team/caller-rights.ts';
import type { ToolExecutor } from './lango-handler.ts';

/** `callMs`: how long a tool is wanted, as its agent is told. @default 30 seconds */
export interface TeamExecutorDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly callMs?: number;
}

/**
 * Runs the tools of a team in the name of a peer: judged by the policies, charged to the peer, tainted with its DID, and
 * cancelled when the peer leaves.
 */
export function teamExecutor(
  tools: Pick<ToolService, 'call'>,
  { clock, callMs = 30_000 }: TeamExecutorDeps,
): ToolExecutor {
  const rights = new CallerRights();
  return async (toolName, params, { principal, signal }) => {
    const { id, tier } = principal;
    const taint = rights.taintOf(principal, 'a2a');
    const result = await tools.call(toolName, params, {
      as: { id, tier, chargedAs: chargedName(principal) },
      ...(taint === undefined ? {} : { taint }),
      deadlineAtMs: clock.now() + callMs,
      signal,
    });
    return result as JsonValue;
  };
}
