import type { JsonValue } from '../../../runtime/protocol/json-value.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { Tool } from '../../../runtime/protocol/tool.ts';
import { toolNotFound } from '../../../runtime/protocol/tool-errors.ts';
import type { ToolService } from '../../../runtime/protocol/tool-service.ts';
import { CallerRights, callingAs, type Trusts } from '../../team/caller-rights.ts';
import { INPUT_FIELD, takesObject } from '../../team/object-schema.ts';
import type { ToolExecutor } from './lango-handler.ts';

/**
 * - `callMs`    how long a tool is wanted, as its agent is told. @default 30 seconds
 * - `serves`    whether a tool is there for peers. @default all are
 * - `trusts`    whether what a peer sends is untainted. @default nobody is trusted
 * - `sandboxOf` the sandbox in which a peer is judged. @default none
 */
export interface TeamExecutorDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly callMs?: number;
  readonly serves?: (tool: Tool) => boolean;
  readonly trusts?: Trusts;
  readonly sandboxOf?: (principal: Principal) => string | undefined;
}

/**
 * Runs the tools of a team in the name of a peer: judged by the policies, charged to the peer, tainted with its DID, and
 * cancelled when the peer leaves. A tool has its full name, `agent.tool`, and no other: the firewall has judged that one. A tool
 * whose input is no object takes the field `input` of the params.
 */
export function teamExecutor(
  tools: Pick<ToolService, 'call' | 'tool'>,
  {
    clock,
    callMs = 30_000,
    serves = () => true,
    trusts = () => false,
    sandboxOf = () => undefined,
  }: TeamExecutorDeps,
): ToolExecutor {
  const rights = new CallerRights({ trusts });
  return async (toolName, params, { principal, signal }) => {
    const tool = tools.tool(toolName);
    if (tool?.name !== toolName || !serves(tool)) throw toolNotFound(toolName);
    const taint = rights.taintOf(principal, 'lango');
    const sandboxId = sandboxOf(principal);
    const input = takesObject(tool.inputSchema) ? params : params[INPUT_FIELD];
    const result = await tools.call(toolName, input, {
      as: {
        ...callingAs(principal),
        ...(sandboxId === undefined ? {} : { sandboxId }),
      },
      ...(taint === undefined ? {} : { taint }),
      deadlineAtMs: clock.now() + callMs,
      signal,
    });
    return (result ?? null) as JsonValue;
  };
}
