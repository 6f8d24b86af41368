import { type Capability, parseInput, parseOutput } from '../../runtime/protocol/capability.ts';
import {
  cancelled,
  deadlineExceeded,
  handlerFailed,
  isOrreryError,
  notSerialisable,
  reasonOf,
} from '../../runtime/protocol/errors.ts';
import { findUnserialisable } from '../../runtime/protocol/json.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { Tool } from '../../runtime/protocol/tool.ts';
import { tainted } from '../../runtime/protocol/tool-errors.ts';
import type { CallOptions } from '../../runtime/protocol/tool-service.ts';
import { DEFAULT_CALL_MS, requireCallOptions, requireReadOnly } from './call-options.ts';
import type { ToolContext } from './hosted-tool.ts';

/** A tool with its declaration and its handler. */
export interface HostedTool {
  readonly tool: Tool;
  readonly capability: Capability;
  readonly handler: (input: never, ctx: ToolContext) => unknown;
}

interface Terms {
  readonly options: CallOptions;
  readonly clock: Clock;
}

/** Calls a tool with the arguments as its schema parses them. It is not tried again. */
export async function runTool(
  { tool, capability, handler }: HostedTool,
  args: unknown,
  terms: Terms,
): Promise<unknown> {
  const { options } = terms;
  requireCallOptions(options);
  requireReadOnly(tool, options);
  if (tool.annotations.privileged === true && options.taint !== undefined && options.taint.length > 0)
    throw tainted(tool.name, options.taint, 'nobody approves anything here');
  const fault = findUnserialisable(args, 'arguments');
  if (fault !== undefined) throw notSerialisable(fault.path, fault.kind);
  const input = parseInput(capability, args);
  const output = await withContext(tool.agentId, terms, async (ctx) => handler(input as never, ctx));
  return parseOutput(capability, output, tool.agentId);
}

/**
 * Runs an agent's function until it is done, nobody wants its answer any more, or its time is over. `options` are ones that
 * `requireCallOptions` has let through.
 */
export async function withContext<Answer>(
  agentId: string,
  { options, clock }: Terms,
  run: (ctx: ToolContext) => Promise<Answer>,
): Promise<Answer> {
  const { as, signal, budget, taint, metadata, onProgress, onReport } = options;
  const startedAtMs = clock.now();
  const deadlineAtMs = options.deadlineAtMs ?? startedAtMs + DEFAULT_CALL_MS;
  const abort = new AbortController();
  const { promise: end, reject } = Promise.withResolvers<never>();
  const cutOff = (why: Error): void => {
    abort.abort(why);
    reject(why);
  };
  const cancel = (): void => cutOff(cancelled(`The call of ${agentId}`));
  const what = `The call of ${agentId}`;
  if (signal?.aborted === true) throw cancelled(what);
  if (deadlineAtMs <= startedAtMs) throw deadlineExceeded(what, deadlineAtMs - startedAtMs);
  signal?.addEventListener('abort', cancel, { once: true });
  const release = clock.setTimer(deadlineAtMs - startedAtMs, () =>
    cutOff(deadlineExceeded(what, deadlineAtMs - startedAtMs)),
  );
  try {
    const answer = run({
      agentId,
      signal: abort.signal,
      deadlineAtMs,
      ...(as && { as }),
      ...(budget && { budget }),
      ...(taint && { taint }),
      ...(metadata && { metadata }),
      progress: (fraction, note) => onProgress?.(note === undefined ? { fraction } : { fraction, note }),
      report: (said) => onReport?.(said),
    });
    return await Promise.race([answer, end]);
  } catch (error) {
    throw isOrreryError(error) ? error : handlerFailed(agentId, reasonOf(error), error);
  } finally {
    release();
    signal?.removeEventListener('abort', cancel);
  }
}
