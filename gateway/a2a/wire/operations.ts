import type { Task, TaskChange, TaskMessage, TaskState } from '../../../runtime/protocol/task.ts';
import type { MessageAnswer } from '../../../runtime/protocol/task-service.ts';

/** Where a task's news is sent to. `token` is shown with each, `authentication` stands in its Authorization header. */
export interface PushConfig {
  readonly id: string;
  readonly taskId: string;
  readonly url: string;
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials?: string };
}

/**
 * A message as it came, whatever the dialect. Whoever makes one keeps nothing of it.
 *
 * - `returnImmediately`   not when the task is over, but when it is kept.
 * - `waitMs`              how long the answer waits for that at most, milliseconds; then it says how the task stands.
 * - `opensTask`           `taskId` is its caller's choice: when there is no such task, it is that of a new one.
 * - `acceptedOutputModes` media types; empty: anything.
 * - `takesMessages`       its caller knows answers that are no tasks. @default false: it is told of a task whatever is asked
 * - `ifGeneration`        only when the task's last change has this number.
 */
export interface SendOrder {
  readonly message: TaskMessage;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly metadata?: Task['metadata'];
  readonly returnImmediately: boolean;
  readonly waitMs?: number;
  readonly opensTask?: boolean;
  readonly takesMessages?: boolean;
  readonly historyLength?: number;
  readonly acceptedOutputModes: readonly string[];
  readonly ifGeneration?: number;
  readonly push?: Omit<PushConfig, 'taskId' | 'id'> & { readonly id?: string };
}

export interface ListOrder {
  readonly contextId?: string;
  readonly state?: TaskState;
  readonly sinceMs?: number;
  readonly pageSize: number;
  readonly pageToken: string;
  readonly historyLength?: number;
  readonly artifacts: boolean;
}

/** What a message leads to: a task, or an answer that is all there is. */
export type Sent =
  | { readonly kind: 'task'; readonly task: Task }
  | ({ readonly kind: 'message' } & MessageAnswer);

/** The task that it led to, for dialects that have no other word: their orders do not take messages. */
export function taskIn(sent: Sent): Task {
  if (sent.kind === 'task') return sent.task;
  throw new Error('A message was answered without a task to a caller who takes tasks alone');
}

/** What a stream says next: the task as it is, or a change of it, or an answer that is all. `isLast`: nothing follows. */
export type StreamItem =
  | ({ readonly kind: 'message'; readonly isLast: true } & MessageAnswer)
  | { readonly kind: 'task'; readonly task: Task; readonly isLast: boolean }
  | {
      readonly kind: 'change';
      readonly taskId: string;
      readonly contextId: string;
      readonly change: TaskChange;
      readonly isLast: boolean;
    };

/**
 * What any dialect of A2A can ask for, by the names that they are given here.
 *
 * `in` is what a dialect reads of a request, `out` what it writes as the answer; a stream answers item by item.
 */
export interface Operations {
  send: { in: SendOrder; out: Sent };
  stream: { in: SendOrder; out: AsyncIterable<StreamItem> };
  /** `after`: answers when the task has a change of a higher number, or is over. */
  get: {
    in: { readonly taskId: string; readonly historyLength?: number; readonly after?: number };
    out: Task;
  };
  list: {
    in: ListOrder;
    out: {
      readonly tasks: readonly Task[];
      readonly nextPageToken: string;
      readonly pageSize: number;
      readonly total: number;
    };
  };
  cancel: { in: { readonly taskId: string }; out: Task };
  /** `after`: the number of the last change that the caller has; without it the task comes first. */
  subscribe: { in: { readonly taskId: string; readonly after?: number }; out: AsyncIterable<StreamItem> };
  createPush: { in: Omit<PushConfig, 'id'> & { readonly id?: string }; out: PushConfig };
  getPush: { in: { readonly taskId: string; readonly id: string }; out: PushConfig };
  listPush: {
    in: { readonly taskId: string; readonly pageSize?: number; readonly pageToken?: string };
    out: { readonly configs: readonly PushConfig[]; readonly nextPageToken: string };
  };
  deletePush: { in: { readonly taskId: string; readonly id: string }; out: undefined };
  extendedCard: { in: undefined; out: ServedCard };
}
export type OperationName = keyof Operations;

/** A card to be shown, of one agent or of the system: what each dialect's card is made of. */
export interface ServedCard {
  readonly id: string | undefined;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  readonly skills: readonly ServedSkill[];
  readonly baseUrl: string;
  readonly grpcUrl?: string;
  readonly pushNotifications: boolean;
  readonly hasExtendedCard: boolean;
  readonly extensions: readonly ServedExtension[];
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
}

export interface ServedSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
  readonly inputSchema: unknown;
  readonly outputSchema: unknown;
}

export interface ServedExtension {
  readonly uri: string;
  readonly description: string;
  readonly required: boolean;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** How a caller proves who they are, as OpenAPI has it. */
export type SecurityScheme =
  | { readonly type: 'apiKey'; readonly in: 'header'; readonly name: string; readonly description?: string }
  | {
      readonly type: 'http';
      readonly scheme: string;
      readonly bearerFormat?: string;
      readonly description?: string;
    }
  | { readonly type: 'mutualTLS'; readonly description?: string };
