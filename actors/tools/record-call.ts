import { errorToData } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { Tool } from '../../runtime/protocol/tool.ts';
import type { SystemEvent } from '../../runtime/public.ts';
import type { InvocationLog } from './invocation-log.ts';
import { whoseTool } from './whose-tool.ts';

/** What is told of a call (N-12.2). */
export type ToolCallEvent = Pick<
  SystemEvent,
  'toolName' | 'agentId' | 'sender' | 'duration' | 'success' | 'errorCode' | 'reason'
> & { readonly type: 'tool-invocation' };

/** `taint`: where what the caller has in it by now came from outside. */
export interface CallRecorder {
  readonly taint?: (() => Taint | undefined) | undefined;
  readonly clock: Clock;
  readonly log: InvocationLog;
  readonly note: (event: ToolCallEvent) => void;
}

/** Runs a call, logs it, and notes it as an event. An error of it says whose tool it was. */
export async function recordCall(
  { clock, log, note, taint }: CallRecorder,
  { tool, args, callerId }: { readonly tool: Tool; readonly args: unknown; readonly callerId: string },
  run: () => Promise<unknown>,
): Promise<unknown> {
  const { name, agentId } = tool;
  const startedAtMs = clock.now();
  const begunMs = clock.monotonicMs();
  const about = (durationMs: number) =>
    ({ type: 'tool-invocation', toolName: name, agentId, sender: callerId, duration: durationMs }) as const;
  try {
    const result = await run();
    const durationMs = clock.monotonicMs() - begunMs;
    log.add({ tool: name, agentId, args, result, startedAtMs, durationMs, taint: taint?.() });
    note({ ...about(durationMs), success: true });
    return result;
  } catch (thrown) {
    const failure = whoseTool(thrown, agentId);
    const error = errorToData(failure);
    const durationMs = clock.monotonicMs() - begunMs;
    log.add({ tool: name, agentId, args, error, startedAtMs, durationMs, taint: taint?.() });
    note({ ...about(durationMs), success: false, errorCode: error.code, reason: error.message });
    throw failure;
  }
}
