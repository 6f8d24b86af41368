import { type TraceContext, traceContextOf } from '../../../runtime/protocol/trace-context.ts';
import type { Tracer } from '../../../runtime/protocol/tracer.ts';
import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import type { McpCall } from './mcp-call.ts';

/** The trace that `_meta` of a request names (SEP-414). */
export const traceOf = (meta: unknown): TraceContext | undefined =>
  isObject(meta) ? traceContextOf(meta['traceparent'], meta['tracestate']) : undefined;

/** What a request asks for: its method, and which tool, prompt or resource of ours. */
interface Asked {
  readonly method: string;
  readonly tool?: string;
  readonly prompt?: string;
}

/**
 * Runs `work` within a span, if somebody traces: part of what the client says in `_meta`, else of the request that carries it.
 * Named as OpenTelemetry's conventions for MCP say.
 */
export async function withCallSpan(
  tracer: Tracer | undefined,
  call: Pick<McpCall, 'trace'>,
  { method, tool, prompt }: Asked,
  work: () => Promise<Result>,
): Promise<Result> {
  if (tracer === undefined) return work();
  const subject = tool ?? prompt;
  const span = tracer.start({
    name: subject === undefined ? method : `${method} ${subject}`,
    kind: 'server',
    attributes: {
      'mcp.method.name': method,
      'gen_ai.operation.name': tool === undefined ? undefined : 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.prompt.name': prompt,
    },
    parent: call.trace,
  });
  try {
    const result = await span.run(work);
    span.end(result['isError'] === true ? { code: 'tool_error' } : undefined);
    return result;
  } catch (error) {
    span.end(error instanceof Error ? error : { code: 'HANDLER_FAILED' });
    throw error;
  }
}
