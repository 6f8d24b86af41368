import { z } from 'zod';
import { told, toldInLine } from '../coding-text.ts';
import { planIn } from './plan.ts';
import { rateLimitOf } from './rate-limit.ts';
import { lineKind, type LineKind, readTyped, type StreamReader } from './stream-reader.ts';
import { pathsIn, titleOf, toolKindOf } from './tool-kind.ts';

const Count = z.int().nonnegative().catch(0);
const Session = z.looseObject({ sessionID: z.string().min(1) });
const Text = z.looseObject({ part: z.looseObject({ text: z.string() }) });
const ToolUse = z.looseObject({
  part: z.looseObject({
    tool: z.string(),
    callID: z.string(),
    state: z.looseObject({
      status: z.string(),
      input: z.record(z.string(), z.unknown()).default({}),
      error: z.string().optional(),
    }),
  }),
});
const StepFinish = z.looseObject({
  part: z.looseObject({
    reason: z.string().optional(),
    cost: z.number().nonnegative().catch(0),
    tokens: z.looseObject({
      input: Count,
      output: Count,
      reasoning: Count,
      cache: z.looseObject({ read: Count, write: Count }).catch({ read: 0, write: 0 }),
    }),
  }),
});
const Fault = z.looseObject({
  error: z.union([
    z.string(),
    z.looseObject({
      name: z.string().optional(),
      data: z.looseObject({ message: z.string().optional() }).optional(),
    }),
  ]),
});

/** Reads what `opencode run --format json` prints. `now` in Unix milliseconds. */
export function opencodeStream(now: () => number): StreamReader {
  let session: string | undefined;
  let used = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  const kinds: Readonly<Record<string, LineKind>> = {
    text: lineKind(Text, ({ part: { text } }) =>
      text.trim() === '' ? [] : [{ type: 'said', text: told(text) }],
    ),
    // A tool is told of when it is over.
    tool_use: lineKind(ToolUse, ({ part: { tool, callID, state } }) => {
      const [kind, title, toolId] = [toolKindOf(tool), titleOf(tool, state.input), told(callID)];
      const isRefused = /rule which prevents|rejected permission/i.test(state.error ?? '');
      return [
        ...(tool === 'todowrite' ? planIn(state.input['todos']) : []),
        { type: 'tool.started', toolId, kind, title, paths: pathsIn(state.input) },
        ...(isRefused ? [{ type: 'permission.answered' as const, kind, title, isAllowed: false }] : []),
        { type: 'tool.ended', toolId, isError: state.status !== 'completed' },
      ];
    }),
    step_finish: lineKind(StepFinish, ({ part: { reason, cost, tokens } }) => {
      used = {
        inputTokens: bounded(used.inputTokens + tokens.input + tokens.cache.read + tokens.cache.write),
        outputTokens: bounded(used.outputTokens + tokens.output + tokens.reasoning),
        costUsd: bounded(used.costUsd + cost),
      };
      return [
        { type: 'usage', usage: { ...used } },
        ...(reason === 'stop' ? [{ type: 'ended' as const, isError: false, reason }] : []),
      ];
    }),
    error: lineKind(Fault, ({ error }) => {
      const message =
        typeof error === 'string' ? error : `${error.name ?? 'error'}: ${error.data?.message ?? ''}`;
      return [
        ...rateLimitOf(message, now(), true),
        { type: 'ended', isError: true, reason: toldInLine(message) },
      ];
    }),
  };
  const sessionIn = lineKind(Session, ({ sessionID }) => {
    if (session !== undefined) return [];
    session = sessionID;
    return [{ type: 'session.started', sessionId: told(sessionID) }];
  });
  return {
    read(line) {
      const events = readTyped(line, kinds);
      if (session !== undefined || events[0]?.type === 'unreadable') return events;
      return [...(sessionIn(JSON.parse(line)) ?? []), ...events];
    },
    end: () => [],
  };
}

const bounded = (count: number): number => Math.min(count, Number.MAX_SAFE_INTEGER);
