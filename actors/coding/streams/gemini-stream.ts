import { z } from 'zod';
import type { CodingEvent } from '../coding-event.ts';
import { told, toldInLine } from '../coding-text.ts';
import { isRateLimit, rateLimitOf } from './rate-limit.ts';
import { lineKind, readTyped, type StreamReader } from './stream-reader.ts';
import { pathsIn, titleOf, toolKindOf } from './tool-kind.ts';

/** So much of a message is gathered from its pieces before it is told. */
const MAX_GATHERED = 2_000;

const Init = z.looseObject({ session_id: z.string().min(1), model: z.string().optional() });
const Message = z.looseObject({ role: z.string(), content: z.string(), delta: z.boolean().optional() });
const ToolUse = z.looseObject({
  tool_name: z.string(),
  tool_id: z.string(),
  parameters: z.record(z.string(), z.unknown()).default({}),
});
const Fault = z.looseObject({ type: z.string().optional(), message: z.string() });
const ToolResult = z.looseObject({ tool_id: z.string(), status: z.string(), error: Fault.optional() });
const Trouble = z.looseObject({ severity: z.string(), message: z.string() });
const Result = z.looseObject({
  status: z.string(),
  error: Fault.optional(),
  stats: z
    .looseObject({ input_tokens: z.int().nonnegative(), output_tokens: z.int().nonnegative() })
    .optional(),
});

/** Reads what `gemini --output-format stream-json` prints. `now` in Unix milliseconds. */
export function geminiStream(now: () => number): StreamReader {
  let gathered = '';
  let lastTool: { readonly id: string; readonly name: string; readonly title: string } | undefined;
  const flush = (): CodingEvent[] => {
    const text = gathered;
    gathered = '';
    return text.trim() === '' ? [] : [{ type: 'said', text: told(text) }];
  };
  const kinds = {
    init: lineKind(Init, ({ session_id, model }) => [
      { type: 'session.started', sessionId: told(session_id), ...(model === undefined ? {} : { model }) },
    ]),
    message: lineKind(Message, ({ role, content }) => {
      if (role !== 'assistant') return [];
      const full = gathered.length + content.length > MAX_GATHERED ? flush() : [];
      gathered = (gathered + content).slice(0, MAX_GATHERED);
      return full;
    }),
    tool_use: lineKind(ToolUse, ({ tool_name, tool_id, parameters }) => {
      const title = titleOf(tool_name, parameters);
      lastTool = { id: tool_id, name: tool_name, title };
      const [toolId, kind, paths] = [told(tool_id), toolKindOf(tool_name), pathsIn(parameters)];
      return [...flush(), { type: 'tool.started', toolId, kind, title, paths }];
    }),
    tool_result: lineKind(ToolResult, ({ tool_id, status, error }) => {
      const isRefused = /denied by policy|policy_violation/i.test(`${error?.type} ${error?.message}`);
      const tool = lastTool?.id === tool_id ? lastTool : { name: '', title: told(tool_id) };
      const refusal: CodingEvent = {
        type: 'permission.answered',
        kind: toolKindOf(tool.name),
        title: tool.title,
        isAllowed: false,
      };
      return [
        ...(isRefused ? [refusal] : []),
        { type: 'tool.ended', toolId: told(tool_id), isError: status !== 'success' },
      ];
    }),
    error: lineKind(Trouble, ({ message }) =>
      isRateLimit(message) ? rateLimitOf(message, now(), false) : [],
    ),
    result: lineKind(Result, ({ status, error, stats }) => [
      ...flush(),
      ...(stats === undefined
        ? []
        : [
            {
              type: 'usage' as const,
              usage: { inputTokens: stats.input_tokens, outputTokens: stats.output_tokens },
            },
          ]),
      ...(error === undefined ? [] : rateLimitOf(`${error.type} ${error.message}`, now(), true)),
      { type: 'ended', isError: status !== 'success', reason: toldInLine(error?.message ?? status) },
    ]),
  };
  return { read: (line) => readTyped(line, kinds), end: flush };
}
