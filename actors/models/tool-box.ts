import { invalidPayload, isOrreryError, refused } from '../../runtime/protocol/errors.ts';
import type { Tool } from '../../runtime/protocol/tool.ts';
import { toolNotFound } from '../../runtime/protocol/tool-errors.ts';
import { ToolNames } from '../../runtime/protocol/tool-names.ts';
import type { CallOptions, ToolService } from '../../runtime/protocol/tool-service.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import type { OfferedTool } from './call-model.ts';
import type { ModelToolCall } from './model-reply.ts';
import type { ToolSaid } from './said.ts';
import { errorText, resultText } from './tool-text.ts';

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
  readonly results: readonly ToolSaid[];
  readonly paused: readonly PausedCall[];
}

export interface CallingTools {
  /** Until when an answer is of use, Unix milliseconds. */
  readonly deadlineAtMs: number;
  /** Ends the calls, as the end of the work does. */
  readonly signal: AbortSignal;
  /** What goes along with a call. */
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
    const ended = new Map<string, ToolSaid | PausedCall>();
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

  async #callOne(call: ModelToolCall, terms: CallingTools): Promise<ToolSaid | PausedCall> {
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

  #tooMany(call: ModelToolCall): ToolSaid {
    const most = this.#limits.maxToolCalls;
    return this.#failed(call, this.#ctx.self, refused(`At most ${most} tools are called at a time`));
  }

  #failed(call: ModelToolCall, agentId: string, error: unknown): ToolSaid {
    return errorText(call, agentId, error, this.#limits.maxToolResultChars);
  }
}
