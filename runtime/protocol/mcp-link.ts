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

/** Everything that an MCP server offers now. `left` lists what of it cannot be used, and why. */
export interface McpOffer {
  readonly tools: readonly McpTool[];
  readonly resources: readonly ResourceDescriptor[];
  readonly resourceTemplates: readonly ResourceTemplateDescriptor[];
  readonly prompts: readonly PromptDescriptor[];
  readonly left: readonly string[];
}

/** What the server says of itself, and the revision of MCP that is used with it. */
export interface McpIdentity {
  readonly name: string;
  readonly version: string;
  readonly protocolVersion: string;
}

/**
 * - `signal`     ends the request, here and at the server.
 * - `timeoutMs`  how long to wait in all. @default as long as the server is not silent
 * - `onProgress` called with the progress that the server reports: `fraction` in [0, 1].
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

/** Called with notifications of the server. None of these may throw. */
export interface McpListener {
  onChange(what: ToolChange): void;
  onUpdate(uri: string): void;
  /** A piece of the server's log. */
  onLog(text: string): void;
}

/**
 * A connection to an MCP server. Requests fail with INVALID_PAYLOAD, DEADLINE_EXCEEDED, REMOTE_FAILED, REMOTE_UNREACHABLE,
 * UNAUTHENTICATED and NOT_PERMITTED. When the connection is over, they fail with another error, so that the agent dies.
 *
 * - `lost` resolves to the reason, when the connection is lost or closed.
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
  /** Possible values of a prompt's argument or a template's variable; none if the server does not say. */
  complete(asked: McpCompleting, options?: McpCallOptions): Promise<readonly string[]>;
  /** From now on `onUpdate` is called for these resources alone, as far as the server supports that. */
  watch(uris: readonly string[]): void;
  /** Whether the server answers anything within this time. */
  answers(withinMs: number): Promise<boolean>;
  /** Ends the connection; resolves when no process and no socket of it is left. */
  close(): Promise<void>;
}

/** How an MCP server is reached, over whatever transport. */
export interface McpDialer {
  /** A command or a URL, for errors. */
  readonly target: string;
  /** Opens a connection. Rejects as a request does, and leaves nothing behind then. */
  connect(listener: McpListener, signal: AbortSignal): Promise<McpConnection>;
}
