import { z } from 'zod';
import type { CodingEvent, CodingUsage } from '../coding-event.ts';
import { told, toldInLine } from '../coding-text.ts';
import { planIn } from './plan.ts';
import { rateLimitOf } from './rate-limit.ts';
import { lineKind, readTyped, type StreamReader } from './stream-reader.ts';
import { pathsIn, titleOf, toolKindOf } from './tool-kind.ts';

const SECOND_MS = 1_000;
const TOO_MANY = 429;

const Count = z.int().nonnegative().catch(0);
const Usage = z.looseObject({
  input_tokens: Count,
  output_tokens: Count,
  cache_creation_input_tokens: Count,
  cache_read_input_tokens: Count,
});
type Usage = z.infer<typeof Usage>;

const Init = z.looseObject({
  subtype: z.string(),
  session_id: z.string().min(1).optional(),
  model: z.string().optional(),
});

const Block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.record(z.string(), z.unknown()).optional(),
  tool_use_id: z.string().optional(),
  is_error: z.boolean().nullish(),
});
type Block = z.infer<typeof Block>;

const Message = z.looseObject({
  message: z.looseObject({
    id: z.string().optional(),
    content: z.union([z.string(), z.array(Block)]),
    usage: Usage.optional(),
  }),
  parent_tool_use_id: z.string().nullish(),
});

const RateLimit = z.looseObject({
  rate_limit_info: z.looseObject({
    status: z.string(),
    resetsAt: z.number().nonnegative().optional(),
    rateLimitType: z.string().optional(),
  }),
});

const Result = z.looseObject({
  subtype: z.string(),
  is_error: z.boolean().default(false),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
  api_error_status: z.number().nullish(),
  total_cost_usd: z.number().nonnegative().optional(),
  usage: Usage.optional(),
  permission_denials: z
    .array(z.looseObject({ tool_name: z.string(), tool_input: z.record(z.string(), z.unknown()).optional() }))
    .optional(),
});

/** Reads what `claude -p --output-format stream-json --verbose` prints. `now` in Unix milliseconds. */
export function claudeStream(now: () => number): StreamReader {
  const usage = new MessageUsage();
  /** When its provider takes requests again, as it said last. */
  let retryAtMs: number | undefined;
  const kinds = {
    system: lineKind(Init, ({ subtype, session_id, model }) =>
      subtype === 'init' && session_id !== undefined
        ? [
            {
              type: 'session.started',
              sessionId: told(session_id),
              ...(model === undefined ? {} : { model }),
            },
          ]
        : [],
    ),
    assistant: lineKind(Message, ({ message }) => [
      ...blocksOf(message.content).flatMap(eventsOfBlock),
      ...(message.usage === undefined ? [] : usage.add(message.id, message.usage)),
    ]),
    user: lineKind(Message, ({ message }) => blocksOf(message.content).flatMap(resultOfBlock)),
    rate_limit_event: lineKind(RateLimit, ({ rate_limit_info: { status, resetsAt, rateLimitType } }) => {
      if (status !== 'rejected') return [];
      retryAtMs = resetsAt === undefined ? undefined : resetsAt * SECOND_MS;
      const reason = toldInLine(`the limit ${rateLimitType ?? ''} is reached`);
      return [
        { type: 'rate.limited', reason, isFinal: false, ...(retryAtMs === undefined ? {} : { retryAtMs }) },
      ];
    }),
    result: lineKind(Result, (result) => {
      const said = result.result ?? result.errors?.join('; ') ?? '';
      return [
        ...(result.permission_denials ?? []).slice(0, MAX_DENIALS).map(denied),
        ...usage.whole(result.usage, result.total_cost_usd),
        ...(result.is_error ? limitOf(said, result.api_error_status, { nowMs: now(), retryAtMs }) : []),
        {
          type: 'ended' as const,
          isError: result.is_error || result.subtype !== 'success',
          reason: toldInLine(
            result.subtype === 'success' && !result.is_error ? 'success' : `${result.subtype} ${said}`,
          ),
        },
      ];
    }),
  };
  return { read: (line) => readTyped(line, kinds), end: () => [] };
}

const MAX_DENIALS = 100;

function limitOf(
  said: string,
  status: number | null | undefined,
  { nowMs, retryAtMs }: { readonly nowMs: number; readonly retryAtMs: number | undefined },
): readonly CodingEvent[] {
  const [limit] = rateLimitOf(status === TOO_MANY ? `${TOO_MANY} ${said}` : said, nowMs, true);
  if (limit === undefined) return [];
  return [retryAtMs === undefined ? limit : ({ ...limit, retryAtMs } as CodingEvent)];
}

const blocksOf = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

function eventsOfBlock({ type, text, id, name, input = {} }: Block): readonly CodingEvent[] {
  if (type === 'text' && text !== undefined && text.trim() !== '')
    return [{ type: 'said', text: told(text) }];
  if (type !== 'tool_use' || id === undefined || name === undefined) return [];
  return [...(name === 'TodoWrite' ? planIn(input['todos']) : []), startOf(id, name, input)];
}

const startOf = (id: string, name: string, input: Readonly<Record<string, unknown>>): CodingEvent => ({
  type: 'tool.started',
  toolId: told(id),
  kind: toolKindOf(name),
  title: titleOf(name, input),
  paths: pathsIn(input),
});

function resultOfBlock({ type, tool_use_id: id, is_error: isError }: Block): readonly CodingEvent[] {
  if (type !== 'tool_result' || id === undefined) return [];
  return [{ type: 'tool.ended', toolId: told(id), isError: isError === true }];
}

const denied = ({
  tool_name,
  tool_input = {},
}: {
  readonly tool_name: string;
  readonly tool_input?: Record<string, unknown> | undefined;
}): CodingEvent => ({
  type: 'permission.answered',
  kind: toolKindOf(tool_name),
  title: titleOf(tool_name, tool_input),
  isAllowed: false,
});

/** Adds up what messages have used. One message may come in several lines, each with what it has used so far. */
class MessageUsage {
  #before = { inputTokens: 0, outputTokens: 0 };
  #last = { id: undefined as string | undefined, inputTokens: 0, outputTokens: 0 };

  add(id: string | undefined, usage: Usage): readonly CodingEvent[] {
    if (id === undefined || id !== this.#last.id) {
      this.#before = sum(this.#before, this.#last);
      this.#last = { id, inputTokens: 0, outputTokens: 0 };
    }
    const inputTokens = Math.max(this.#last.inputTokens, inputOf(usage));
    const outputTokens = Math.max(this.#last.outputTokens, usage.output_tokens);
    this.#last = { id, inputTokens, outputTokens };
    return [{ type: 'usage', usage: sum(this.#before, this.#last) }];
  }

  /** What the program says of the whole attempt, at its end. */
  whole(usage: Usage | undefined, costUsd: number | undefined): readonly CodingEvent[] {
    const tokens = sum(this.#before, this.#last);
    const told: CodingUsage =
      usage === undefined
        ? tokens
        : {
            inputTokens: Math.max(tokens.inputTokens, inputOf(usage)),
            outputTokens: Math.max(tokens.outputTokens, usage.output_tokens),
          };
    return [{ type: 'usage', usage: { ...told, ...(costUsd === undefined ? {} : { costUsd }) } }];
  }
}

/** What is read from a cache is input, too. */
const inputOf = (usage: Usage): number =>
  usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;

interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Bounded: counts come from outside. */
const sum = (one: Tokens, other: Tokens): Tokens => ({
  inputTokens: Math.min(one.inputTokens + other.inputTokens, Number.MAX_SAFE_INTEGER),
  outputTokens: Math.min(one.outputTokens + other.outputTokens, Number.MAX_SAFE_INTEGER),
});
