import type { DelegationOrder, DelegationParams } from './a2a-extension.ts';
import type { Artifact, Part, Task, TaskMessage, TaskState } from './task.ts';

/** Where a task elsewhere stands. `atMs`: since when by the clock there, Unix milliseconds, if that was said. */
export interface RemoteStatus {
  readonly state: TaskState;
  readonly message?: TaskMessage;
  readonly atMs?: number;
}

/** A task at another system, as it was last heard of. */
export interface RemoteTask {
  readonly id: string;
  readonly contextId: string | undefined;
  readonly status: RemoteStatus;
  readonly artifacts: readonly Artifact[];
  readonly history: readonly TaskMessage[];
  readonly metadata?: Task['metadata'];
}

/** What a stream says next: the task as it is, a step of it, or the one message that is all the answer. */
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

/** What the card of an agent elsewhere says of it. `delegation`: of the system behind it, by our extension. */
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
 * - `delegation` what our extension says of the work, where the card announces it; else it is left out.
 */
export interface RemoteMessage {
  readonly parts: readonly Part[];
  readonly messageId?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly metadata?: Task['metadata'];
  readonly delegation?: DelegationOrder;
}

/** `timeoutMs`: how long in all, then it fails with DEADLINE_EXCEEDED; the task there goes on. @default no end */
export interface RemoteCallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** How an agent elsewhere is reached, over whatever protocol. Fails with REMOTE_UNREACHABLE, REMOTE_FAILED, and with codes that the agent gives. */
export interface RemoteLink {
  readonly url: URL;
  card(options?: RemoteCallOptions): Promise<RemoteIdentity>;
  /** Sends a message, and yields what comes of it until the task is over or waits for somebody. */
  stream(message: RemoteMessage, options?: RemoteCallOptions): AsyncGenerator<RemoteEvent, void>;
  /** Ends a task and the work at it. */
  cancel(taskId: string, options?: RemoteCallOptions): Promise<RemoteTask>;
  /** Another agent that is reached as this one is. */
  linkTo(url: string): RemoteLink;
  close(): void;
}
