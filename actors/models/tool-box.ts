import { invalidPayload, isOrreryError, refused, errorToData } from '../../runtime/protocol/errors.ts';
import {
  type Tool,
  type ToolContent,
  ToolContent as ToolContentSchema,
} from '../../runtime/protocol/tool.ts';
import { toolNotFound } from '../../runtime/protocol/tool-errors.ts';
import { ToolNames } from '../../runtime/protocol/tool-names.ts';
import type { CallOptions, ToolService } from '../../runtime/protocol/tool-service.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import type { OfferedTool } from './call-model.ts';
import type { ModelToolCall } from './model-reply.ts';
import type { ToolOutcome } from './conversation.ts';
import { cutText } from './cut-text.ts';

/** What a model's agent needs of the tools. */
export type AgentTools = Pick<ToolService, 'tools' | 'call'>;

/**
 * - `maxToolCalls`       of one reply that are made; those beyond are told that they are too many.
 * - `maxParallelTools`   that are under way at a time.
 * - `maxToolResultChars` of a tool's answer that the model reads.
 */
export interface ToolLimits {
  readonly maxToolCalls: number;
  readonly maxParallelTools: number;
  readonly maxToolResultChars: number;
}

/** A call whose tool asks for something first. */
export interface PausedCall {
  readonly call: ModelToolCall;
  readonly tool: Tool;
  readonly error: unknown;
}

/** What came of the calls of one reply, each as it ended; `paused` are those that wait for somebody's answer. */
export interface CalledTools {
  readonly results: readonly ToolOutcome[];
  readonly paused: readonly PausedCall[];
}

export interface CallingTools {
  /** When the calls end at the latest, Unix milliseconds. */
  readonly deadlineAtMs: number;
  /** Ends the calls. */
  readonly signal: AbortSignal;
  /** Metadata and options of a call. */
  readonly along: (call: ModelToolCall, tool: Tool) => Pick<CallOptions, 'metadata' | 'onReport'>;
  /** Whether a tool's question is one for the owner of a task; else the model reads it. */
  readonly mayPause: boolean;
}

/** The tools of one handling: under the names that models take, called at most once each. */
export class ToolBox {
  readonly offered: readonly OfferedTool[];
  readonly #service: AgentTools;
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #limits: ToolLimits;
  readonly #ctx: HandlingContext<never>;

  constructor(
    ctx: HandlingContext<never>,
    { service, tools, limits }: { service: AgentTools; tools: readonly Tool[]; limits: ToolLimits },
  ) {
    this.#ctx = ctx;
    this.#service = service;
    this.#limits = limits;
    const names = new ToolNames(tools);
    this.#tools = new Map(tools.map((tool) => [names.portable(tool), tool]));
    this.offered = [...this.#tools].map(([name, { title, description, inputSchema }]) => ({
      name,
      description: description === '' ? title : description,
      schema: inputSchema,
    }));
  }

  /** Calls them, several at a time. Rejects only with the reason for which the work is over. */
  async call(calls: readonly ModelToolCall[], terms: CallingTools): Promise<CalledTools> {
    const { maxToolCalls, maxParallelTools } = this.#limits;
    const ended = new Map<string, ToolOutcome | PausedCall>();
    const waiting = calls.entries();
    const callNext = async (): Promise<void> => {
      for (const [at, call] of waiting) {
        ended.set(call.id, at < maxToolCalls ? await this.#callOne(call, terms) : this.#tooMany(call));
        this.#ctx.signal.throwIfAborted();
        terms.signal.throwIfAborted();
      }
    };
    await Promise.all(Array.from({ length: Math.min(maxParallelTools, calls.length) }, callNext));
    const all = calls.flatMap(({ id }) => ended.get(id) ?? []);
    return {
      results: all.filter((one) => 'text' in one),
      paused: all.filter((one) => 'call' in one),
    };
  }

  async #callOne(call: ModelToolCall, terms: CallingTools): Promise<ToolOutcome | PausedCall> {
    const { maxToolResultChars } = this.#limits;
    const tool = this.#tools.get(call.name);
    if (tool === undefined) return this.#failed(call, this.#ctx.self, toolNotFound(call.name));
    if (call.fault !== undefined)
      return this.#failed(call, tool.agentId, invalidPayload(tool.name, call.fault));
    try {
      const result = await this.#service.call(tool.name, call.input, {
        deadlineAtMs: terms.deadlineAtMs,
        signal: terms.signal,
        ...terms.along(call, tool),
      });
      return resultText(call, tool, result, maxToolResultChars);
    } catch (error) {
      this.#ctx.signal.throwIfAborted();
      if (terms.mayPause && isOrreryError(error) && error.code === 'INPUT_REQUIRED')
        return { call, tool, error };
      return this.#failed(call, tool.agentId, error);
    }
  }

  #tooMany(call: ModelToolCall): ToolOutcome {
    const most = this.#limits.maxToolCalls;
    return this.#failed(call, this.#ctx.self, refused(`At most ${most} tools are called at a time`));
  }

  #failed(call: ModelToolCall, agentId: string, error: unknown): ToolOutcome {
    return errorText(call, agentId, error, this.#limits.maxToolResultChars);
  }
}

/** What a tool has answered, for a model to read, in at most so many characters. */
export function resultText(
  { id, name }: ModelToolCall,
  tool: Tool,
  result: unknown,
  maxChars: number,
): ToolOutcome {
  const content = tool.isContent ? ToolContentSchema.safeParse(result) : undefined;
  const text = content?.success === true ? contentText(content.data) : plainText(result);
  const isError = content?.success === true && content.data.isError === true;
  return { id, name, text: cutText(text, maxChars), isError };
}

/** Why a tool has no result: code, message and whose tool it is, as JSON. */
export function errorText(
  { id, name }: ModelToolCall,
  agentId: string,
  error: unknown,
  maxChars: number,
): ToolOutcome {
  const { code, message, details } = errorToData(error, 'REFUSED');
  const { retryAfterMs } = (details ?? {}) as { retryAfterMs?: unknown };
  const told = { code, message, agentId, ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}) };
  return { id, name, text: cutText(JSON.stringify(told), maxChars), isError: true };
}

const plainText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'done');

/** Content as text. Pictures and sounds are named, not included. */
function contentText({ content, structured }: ToolContent): string {
  const blocks = content.map((block) => {
    if (block.type === 'text') return block.text;
    if (block.type === 'resource')
      return 'text' in block.resource ? block.resource.text : `[${block.resource.uri}: bytes]`;
    if (block.type === 'resource_link') return `[${block.name}: ${block.uri}]`;
    return `[${block.type}, ${block.mimeType}]`;
  });
  return [...blocks, ...(structured === undefined ? [] : [JSON.stringify(structured)])].join('\n');
}
