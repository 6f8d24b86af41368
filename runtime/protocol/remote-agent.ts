import type { DelegationOrder, DelegationParams } from './a2a-extension.ts';
import type { Artifact, Part, Task, TaskMessage, TaskState } from './task.ts';

/** The status of a task elsewhere. `atMs`: since when, Unix milliseconds by the clock there, if that is known. */
export interface RemoteStatus {
  readonly state: TaskState;
  readonly message?: TaskMessage;
  readonly atMs?: number;
}

/** A task at another system, as last reported. */
export interface RemoteTask {
  readonly id: string;
  readonly contextId: string | undefined;
  readonly status: RemoteStatus;
  readonly artifacts: readonly Artifact[];
  readonly history: readonly TaskMessage[];
  readonly metadata?: Task['metadata'];
}

/** An event of a stream: the task as it is, a change of it, or the message that is the whole answer. */
export type RemoteEvent =
  | { readonly kind: 'task'; readonly task: RemoteTask }
  | { readonly kind: 'message'; readonly message: TaskMessage; readonly contextId: string | undefined }
  | {
      readonly kind: 'status';
      readonly taskId: string;
      readonly contextId: string | undefined;
      readonly status: RemoteStatus;
      readonly metadata?: Task['metadata'];
    }
  | {
      readonly kind: 'artifact';
      readonly taskId: string;
      readonly contextId: string | undefined;
      readonly artifact: Artifact;
      readonly append: boolean;
      readonly lastChunk: boolean;
    };

/** A skill on the card of an agent elsewhere. */
export interface RemoteSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** What the card of an agent elsewhere says. `delegation` is what our extension says of its system. */
export interface RemoteIdentity {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly skills: readonly RemoteSkill[];
  readonly delegation: DelegationParams | undefined;
}

/**
 * A message to an agent elsewhere.
 *
 * - `messageId` @default a new one
 * - `taskId`    of the task that it goes on with. @default a new task
 * - `delegation` what our extension says of the work. It is sent only if the card announces the extension.
 */
export interface RemoteMessage {
  readonly parts: readonly Part[];
  readonly messageId?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly metadata?: Task['metadata'];
  readonly delegation?: DelegationOrder;
}

/** `timeoutMs`: how long the call may take; then it fails with DEADLINE_EXCEEDED, and the task there goes on. @default no limit */
export interface RemoteCallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** A connection to an agent elsewhere, over any protocol. Fails with REMOTE_UNREACHABLE, REMOTE_FAILED, and codes of the agent. */
export interface RemoteLink {
  readonly url: URL;
  card(options?: RemoteCallOptions): Promise<RemoteIdentity>;
  /** Sends a message, and yields what comes of it until the task is over or waits for somebody. */
  stream(message: RemoteMessage, options?: RemoteCallOptions): AsyncGenerator<RemoteEvent, void>;
  /** Ends a task and the work at it. */
  cancel(taskId: string, options?: RemoteCallOptions): Promise<RemoteTask>;
  /** A link to another agent, with the same options. */
  linkTo(url: string): RemoteLink;
  close(): void;
}

/** A tool on the card of an agent elsewhere; `input` is a JSON Schema, if the card has one. */
export interface RemoteTool extends RemoteSkill {
  readonly input?: unknown;
}

/** What the card of an agent elsewhere says that has tools, and no tasks. */
export interface RemoteToolCard extends Pick<RemoteIdentity, 'name' | 'description' | 'version'> {
  readonly tools: readonly RemoteTool[];
}

/**
 * A connection to an agent elsewhere that answers calls of its tools. Fails with REMOTE_UNREACHABLE and REMOTE_FAILED.
 *
 * - `node`   the name of what is there, which is no other's.
 * - `source` the taint of what it says.
 */
export interface RemoteToolLink {
  readonly node: string;
  readonly source: string;
  card(options?: RemoteCallOptions): Promise<RemoteToolCard>;
  call(tool: string, input: unknown, options?: RemoteCallOptions): Promise<unknown>;
}
