import {
  generateText,
  type JSONValue,
  jsonSchema,
  type ModelMessage,
  Output,
  streamText,
  type ToolSet,
  tool,
  wrapLanguageModel,
} from 'ai';
import type { ModelObject } from './model-endpoint.ts';
import { ModelReply, type ModelToolCall, type ModelUsage } from './model-reply.ts';
import type { ModelSettings } from './model-agent-options.ts';
import type { ConversationTurn } from './conversation.ts';

/** A tool as the model is told of it; `schema` is JSON Schema. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
}

/**
 * One call of a model.
 *
 * - `streams`  it is asked for a stream; else for the whole answer at once.
 * - `answer`   JSON Schema of the answer, where the model is held to one by the provider.
 * - `onText`   hears the text as it comes.
 */
export interface ModelRequest {
  readonly model: ModelObject;
  readonly instructions: string;
  readonly said: readonly ConversationTurn[];
  readonly tools: readonly OfferedTool[];
  readonly answer: unknown;
  readonly maxOutputTokens: number;
  readonly settings: ModelSettings;
  readonly streams: boolean;
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
  readonly newId: () => string;
  readonly nowMs: () => number;
}

/** What the model answers. Rejects with what the SDK throws, or the reason of the signal. */
export async function callModel(request: ModelRequest): Promise<ModelReply> {
  try {
    return request.streams ? await streamed(request) : await whole(request);
  } catch (error) {
    request.signal.throwIfAborted();
    throw error;
  }
}

async function whole(request: ModelRequest): Promise<ModelReply> {
  const { text, toolCalls, finishReason, usage } = await generateText(
    optionsOf({ ...request, model: withDistinctIds(request.model) }),
  );
  request.onText(text);
  return ModelReply.parse({
    text,
    calls: toolCalls.map(callOf),
    finish: FINISH[finishReason] ?? 'other',
    ...usageOf(usage),
  });
}

async function streamed(request: ModelRequest): Promise<ModelReply> {
  // Errors come in the stream. Without this the SDK writes them to the console, too.
  const { fullStream } = streamText({ ...optionsOf(request), onError: () => undefined });
  let text = '';
  const calls: ModelToolCall[] = [];
  const distinct = distinctIds();
  for await (const part of fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'abort') request.signal.throwIfAborted();
    if (part.type === 'text-delta') {
      text += part.text;
      request.onText(part.text);
    }
    if (part.type === 'tool-call') {
      const call = callOf(part);
      calls.push({ ...call, id: distinct(call.id) });
    }
    if (part.type === 'finish')
      return ModelReply.parse({
        text,
        calls,
        finish: FINISH[part.finishReason] ?? 'other',
        ...usageOf(part.totalUsage),
      });
  }
  request.signal.throwIfAborted();
  throw new Error('the stream ended before the answer did');
}

const FINISH: Readonly<Record<string, ModelReply['finish']>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'calls',
  'content-filter': 'filter',
};

function optionsOf(request: ModelRequest) {
  const { model, instructions, said, tools, answer, maxOutputTokens, settings, signal, newId, nowMs } =
    request;
  return {
    model,
    instructions,
    messages: said.map(messageOf),
    maxOutputTokens,
    ...settings,
    ...(tools.length === 0 ? {} : { tools: toolsOf(tools) }),
    ...(answer === undefined ? {} : { output: heldTo(answer) }),
    abortSignal: signal,
    // Attempts are made where they are paid for.
    maxRetries: 0,
    telemetry: { isEnabled: false },
    _internal: { generateId: newId, generateCallId: newId, now: nowMs },
  };
}

/** Asks the provider to hold the model to a schema. The answer is checked later, where a fault can be repaired. */
function heldTo(schema: unknown) {
  const output = Output.object({ schema: jsonSchema(schema as object) });
  return { ...output, parseCompleteOutput: ({ text }: { text: string }) => Promise.resolve<unknown>(text) };
}

/** Tools without a function: the SDK gives the calls back. */
const toolsOf = (tools: readonly OfferedTool[]): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, schema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(schema as object) }),
    ]),
  );

function messageOf(one: ConversationTurn): ModelMessage {
  if (one.by === 'user') return { role: 'user', content: one.text };
  if (one.by === 'tools')
    return {
      role: 'tool',
      content: one.results.map(({ id, name, text, isError }) => ({
        type: 'tool-result',
        toolCallId: id,
        toolName: name,
        output: { type: isError ? 'error-text' : 'text', value: text },
      })),
    };
  const text = one.text === '' ? [] : [{ type: 'text' as const, text: one.text }];
  const calls = one.calls.map(({ id, name, input }) => ({
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    input: input as JSONValue,
  }));
  return { role: 'assistant', content: [...text, ...calls] };
}

const MAX_UNREADABLE = 500;

interface SdkCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly invalid?: boolean | undefined;
}

/** The call as endpoints take it back: arguments that are no object are wrapped in one. */
function callOf({ toolCallId, toolName, input }: SdkCall): ModelToolCall {
  const call = { id: toolCallId, name: toolName };
  if (typeof input === 'object' && input !== null && !Array.isArray(input))
    return { ...call, input: input as ModelToolCall['input'] };
  const text = (typeof input === 'string' ? input : (JSON.stringify(input) ?? '')).slice(0, MAX_UNREADABLE);
  if (text.trim() === '') return { ...call, input: {} };
  return { ...call, input: { unreadable: text }, fault: `the arguments are no JSON object: ${text}` };
}

/** A count above this is not believed. */
const MAX_TOKENS = 1e9;

interface SdkUsage {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly inputTokenDetails: { readonly cacheReadTokens: number | undefined };
}

/** The usage that the provider reports; none if it reports no input tokens. */
function usageOf(usage: SdkUsage): { usage?: ModelUsage } {
  const { inputTokens, outputTokens, inputTokenDetails } = usage;
  if (!isCount(inputTokens) || !isCount(outputTokens) || inputTokens === 0) return {};
  const { cacheReadTokens } = inputTokenDetails;
  const isCached = isCount(cacheReadTokens) && cacheReadTokens > 0 && cacheReadTokens <= inputTokens;
  return {
    usage: { inputTokens, outputTokens, ...(isCached ? { cachedInputTokens: cacheReadTokens } : {}) },
  };
}

const isCount = (count: number | undefined): count is number =>
  count !== undefined && Number.isInteger(count) && count >= 0 && count <= MAX_TOKENS;

/** Makes ids distinct: some endpoints give two calls the same id. */
function distinctIds(): (id: string) => string {
  const seen = new Set<string>();
  return (id) => {
    let distinct = id;
    for (let n = 2; seen.has(distinct); n += 1) distinct = `${id}-${n}`;
    seen.add(distinct);
    return distinct;
  };
}

/** The model with distinct ids of calls: the SDK takes all calls of one id for the first of them. */
const withDistinctIds = (model: ModelObject): ModelObject =>
  wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      wrapGenerate: async ({ doGenerate }) => {
        const result = await doGenerate();
        const distinct = distinctIds();
        const content = result.content.map((part) =>
          part.type === 'tool-call' ? { ...part, toolCallId: distinct(part.toolCallId) } : part,
        );
        return { ...result, content };
      },
    },
  });
