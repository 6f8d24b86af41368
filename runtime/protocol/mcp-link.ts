import type {
  PromptDescriptor,
  PromptMessage,
  ResourceContent,
  ResourceDescriptor,
  ResourceTemplateDescriptor,
  ToolAnnotations,
  ToolContent,
} from './tool.ts';
import type { ToolChange } from './tool-service.ts';

/**
 * A tool of an MCP server, under its name there. Schemas are JSON Schema.
 *
 * - `isTask` it can only be called as a task.
 */
export interface McpTool {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly outputSchema: unknown;
  readonly annotations: ToolAnnotations;
  readonly isTask?: true;
}

/** All that an MCP server has to offer now. `left` says what of it is no use, and why. */
export interface McpOffer {
  readonly tools: readonly McpTool[];
  readonly resources: readonly ResourceDescriptor[];
  readonly resourceTemplates: readonly ResourceTemplateDescriptor[];
  readonly prompts: readonly PromptDescriptor[];
  readonly left: readonly string[];
}

/** Who the server says that it is, and which revision of MCP is used with it. */
export interface McpIdentity {
  readonly name: string;
  readonly version: string;
  readonly protocolVersion: string;
}

/**
 * - `signal`     ends the request, also there.
 * - `timeoutMs`  how long to wait in all. @default as long as it is not silent
 * - `onProgress` hears how far it is: `fraction` in [0, 1], as far as the server says.
 */
export interface McpCallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly onProgress?: (fraction: number | undefined, note: string | undefined) => void;
}

/** What is to be completed, under the server's names: the argument as far as it is known, and the values of the others. */
export interface McpCompleting {
  readonly of: { readonly prompt: string } | { readonly uriTemplate: string };
  readonly argument: { readonly name: string; readonly value: string };
  readonly others: Readonly<Record<string, string>>;
}

/** What the server has to say in between. None of it may throw. */
export interface McpListener {
  onChange(what: ToolChange): void;
  onUpdate(uri: string): void;
  /** A piece of what it writes to its log. */
  onLog(text: string): void;
}

/**
 * A connection to an MCP server. Requests fail with INVALID_PAYLOAD, DEADLINE_EXCEEDED, REMOTE_FAILED, REMOTE_UNREACHABLE,
 * UNAUTHENTICATED and NOT_PERMITTED; with what is no `OrreryError` when the connection is over, so that its agent dies of it.
 *
 * - `lost` resolves to why it was lost, or was closed.
 */
export interface McpConnection {
  readonly identity: McpIdentity;
  readonly lost: Promise<string>;
  offer(options?: McpCallOptions): Promise<McpOffer>;
  call(tool: McpTool, args: unknown, options?: McpCallOptions): Promise<ToolContent>;
  read(uri: string, options?: McpCallOptions): Promise<readonly ResourceContent[]>;
  render(
    prompt: string,
    args: Readonly<Record<string, string>>,
    options?: McpCallOptions,
  ): Promise<{ readonly description?: string; readonly messages: readonly PromptMessage[] }>;
  /** What an argument of a prompt, or a variable of a template, may be; nothing where the server does not say. */
  complete(asked: McpCompleting, options?: McpCallOptions): Promise<readonly string[]>;
  /** From now on `onUpdate` hears of these resources, and of no others, as far as the server can say so. */
  watch(uris: readonly string[]): void;
  /** Whether it answers anything at all within this time. */
  answers(withinMs: number): Promise<boolean>;
  /** Ends it; resolves when nothing of it is left: no process, no socket. */
  close(): Promise<void>;
}

/** How an MCP server is reached, over whatever transport. */
export interface McpDialer {
  /** A command or a URL, as it stands in errors. */
  readonly target: string;
  /** A new connection. Rejects with what a request rejects with, and leaves nothing behind then. */
  connect(listener: McpListener, signal: AbortSignal): Promise<McpConnection>;
}
