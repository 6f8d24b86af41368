import type { AgentTier } from './agent-card.ts';
import type { Budget } from './budget.ts';
import type { Taint } from './taint.ts';
import type {
  PromptDescriptor,
  PromptMessage,
  ResourceContent,
  ResourceDescriptor,
  ResourceTemplateDescriptor,
  Tool,
  ToolInvocation,
} from './tool.ts';

/**
 * The caller of a tool, and the terms of the call.
 *
 * - `as`            whom the rules judge: somebody outside, of this tier, in this sandbox or in none, and by which name deaths
 *                   are charged to them, if not by their id. @default who holds the service
 * - `readOnly`      only tools that change nothing. @default false
 * - `taint`         where what is given came from. @default what the caller is tainted with
 * - `deadlineAtMs`  until when it is wanted, Unix milliseconds. @default 30 s
 * - `budget`        what may be spent on it.
 * - `signal`        ends the work in its agent.
 * - `onProgress`    called with the progress: `fraction` in [0, 1].
 * - `onReport`      called with the handler's reports.
 * - `onTaint`       hears, before what comes back, where that came from outside.
 * - `metadata`      what else goes with the envelope. JSON.
 */
export interface CallOptions {
  readonly as?: {
    readonly id: string;
    readonly tier: AgentTier;
    readonly tenant?: string | undefined;
    readonly roles?: readonly string[];
    readonly sandboxId?: string;
    readonly chargedAs?: string;
  };
  readonly readOnly?: boolean;
  readonly taint?: Taint;
  readonly deadlineAtMs?: number;
  readonly budget?: Budget;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly fraction: number; readonly note?: string }) => void;
  readonly onReport?: (report: unknown) => void;
  readonly onTaint?: (taint: Taint) => void;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Who offers something, and where what is said of it came from outside: an agent that is shown it has that. */
interface Offered {
  readonly agentId: string;
  readonly taint?: Taint;
}

/** A resource, and the agent that has it. */
export interface OfferedResource extends ResourceDescriptor, Offered {}

export interface OfferedTemplate extends ResourceTemplateDescriptor, Offered {}

/** A prompt under its full name, `agent.prompt`, and the agent that has it. */
export interface OfferedPrompt extends PromptDescriptor, Offered {}

/** What is to be completed: an argument of a prompt, or a variable of a template, with what the others are by now. */
export interface Completing {
  readonly of: { readonly prompt: string } | { readonly uriTemplate: string };
  readonly argument: string;
  readonly value: string;
  readonly others?: Readonly<Record<string, string>>;
}

export type ToolChange = 'tools' | 'resources' | 'prompts';

/**
 * The tools, resources and prompts of all agents: what MCP, model agents and other protocols are served from. Lists are in
 * the order of registration, and the same object until they change.
 *
 * A call runs in its agent's mailbox, once: what cuts it off is told, and nobody tries again (N-V03).
 */
export interface ToolService {
  tools(): readonly Tool[];
  tool(name: string): Tool | undefined;
  resources(): readonly OfferedResource[];
  templates(): readonly OfferedTemplate[];
  prompts(): readonly OfferedPrompt[];
  /**
   * Calls a tool; resolves to what its agent answers.
   *
   * Rejects with an `OrreryError` whose `details.agentId` says whose tool it is: TOOL_NOT_FOUND naming it, INVALID_PAYLOAD
   * naming field and value, NOT_PERMITTED, TAINTED, and with what an ask rejects with. A hint of when it may be worth
   * another try is in `details.retryAfterMs`.
   */
  call(name: string, args: unknown, options?: CallOptions): Promise<unknown>;
  /** Reads a resource. Rejects with RESOURCE_NOT_FOUND naming the URI. */
  read(uri: string, options?: CallOptions): Promise<readonly ResourceContent[]>;
  /** Renders a prompt with its arguments. Rejects with PROMPT_NOT_FOUND, and INVALID_PAYLOAD naming the argument. */
  render(
    name: string,
    args: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<{ readonly description?: string; readonly messages: readonly PromptMessage[] }>;
  /** Possible values of an argument, the likeliest first. Rejects as `render` and `read` do. */
  complete(completing: Completing, options?: CallOptions): Promise<readonly string[]>;
  /** The last calls, the newest last. */
  invocations(): readonly ToolInvocation[];
  /** Calls `listener` whenever a list has changed, until the returned function is called. */
  onChange(listener: (change: ToolChange) => void): () => void;
  /** Calls `listener` whenever an agent says that a resource has changed, until the returned function is called. */
  onUpdate(listener: (uri: string) => void): () => void;
}
