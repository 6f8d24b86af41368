import { z } from 'zod';
import { AgentTier } from './agent-card.ts';
import { AssignmentNote } from './assignment-note.ts';
import { Budget } from './budget.ts';
import { PathHop } from './envelope.ts';
import { FreshJsonFields, JsonValue } from './json-value.ts';
import { Taint } from './taint.ts';
import { FreshTaskMessage, Task, type TaskChange, TaskMessage, type TaskState } from './task.ts';

/** The owner of a task; nobody else sees the task. `tenant` is undefined in a deployment without tenants. */
export const TaskOwner = z.strictObject({
  principalId: z.string().min(1),
  tenant: z.string().min(1).optional(),
});
export type TaskOwner = z.infer<typeof TaskOwner>;

/**
 * The terms under which an agent works for an owner: what the owner may reach and spend.
 *
 * - `tier`          the tier by which the owner is judged. @default 3
 * - `roles`         what the owner may do, by its credentials. @default none
 * - `justification` why a lower tier asks a higher one.
 * - `chargedAs`     the name under which deaths are charged to the owner. @default the id of its principal
 * - `readOnly`      permits only capabilities that change nothing. @default false
 * - `deadlineAtMs`  until when the result is wanted, Unix milliseconds.
 * - `budget`        what may be spent on the work.
 * - `path`          the requests above this one in systems elsewhere, oldest first.
 * - `assignment`    of a swarm elsewhere, which this work is.
 * - `resumeFrom`    what an attempt elsewhere has kept of it.
 * - `taint`         the sources outside from which the message came. All work in the task has it, and the owner is not asked to
 *                   approve privileged work for it. @default none
 */
export const TaskTerms = z.strictObject({
  tier: AgentTier.default(3),
  chargedAs: z.string().min(1).optional(),
  roles: z.array(z.string().min(1)).readonly().optional(),
  justification: z.string().min(1).optional(),
  readOnly: z.boolean().default(false),
  deadlineAtMs: z.number().optional(),
  budget: Budget.optional(),
  path: z.array(PathHop).readonly().optional(),
  assignment: AssignmentNote.optional(),
  resumeFrom: JsonValue.optional(),
  taint: Taint.optional(),
});
export type TaskTerms = z.infer<typeof TaskTerms>;

/**
 * A message of an owner to an agent.
 *
 * - `taskId`       the task that it belongs to. @default a new one
 * - `newTaskId`    the id for a new task; if there is a task with it, the message belongs to that. @default the service's choice
 * - `contextId`    the conversation. @default that of the task, or a new one
 * - `metadata`     of a new task.
 * - `terms`        of this message. @default those of anybody
 * - `ifGeneration` take the message only if this is the number of the task's last change. @default always
 * - `isHandedOver` the caller keeps and changes neither message nor `metadata`: they are not copied. @default false
 */
export const Said = z.strictObject({
  message: TaskMessage,
  agentId: z.string().min(1),
  taskId: z.string().optional(),
  newTaskId: z.string().min(1).optional(),
  contextId: z.string().min(1).optional(),
  metadata: Task.shape.metadata,
  terms: TaskTerms.optional(),
  ifGeneration: z.int().nonnegative().optional(),
  isHandedOver: z.boolean().optional(),
});
export type Said = z.input<typeof Said>;

/** As `Said`, for a message that was handed over: nothing in it is copied. */
export const SaidForGood = Said.extend({
  message: FreshTaskMessage,
  metadata: FreshJsonFields.optional(),
});

/** How many messages of a task are wanted: the newest ones. @default all */
export interface ViewOptions {
  readonly historyLength?: number | undefined;
  readonly artifacts?: boolean | undefined;
}

/** Which of an owner's tasks are wanted. They come by the time of their status, the newest first. `agentId` works at them. */
export interface TaskQuery extends ViewOptions {
  readonly agentId?: string | undefined;
  readonly contextId?: string | undefined;
  readonly state?: TaskState | undefined;
  /** Tasks whose status is of this time or later, Unix milliseconds. */
  readonly sinceMs?: number | undefined;
  readonly pageSize: number;
  /** `nextPageToken` of the page before. */
  readonly pageToken?: string | undefined;
}

/** Changes of a task that have just been kept. */
export interface TaskNews {
  readonly taskId: string;
  readonly contextId: string;
  readonly agentId: string;
  readonly owner: TaskOwner;
  readonly changes: readonly TaskChange[];
}

/** `total` counts all pages; `nextPageToken` is empty on the last one. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly nextPageToken: string;
  readonly total: number;
}

/** An agent's answer without a task, in its conversation. Nothing of it is kept. */
export interface MessageAnswer {
  readonly message: TaskMessage;
  readonly contextId: string;
}

/**
 * Tasks that outlive every request for them; the protocols of the gateway are served from it. The tasks of another owner are as if
 * they did not exist.
 */
export interface TaskService {
  /**
   * Answers a message without a task, if its capability answers so, and its input is complete. Undefined: use `send`. A message
   * that comes twice is answered twice. `signal` ends the work.
   *
   * Rejects as `send` does before a task is made. It also rejects with what may be told of a failure: its code, a safe sentence,
   * and in the details the `id` by which the operator finds the rest.
   */
  answer?(owner: TaskOwner, said: Said, signal: AbortSignal): Promise<MessageAnswer> | undefined;
  /**
   * Takes a message; resolves to its task when that is kept. The same message again changes nothing.
   *
   * Rejects with TASK_NOT_FOUND, TASK_OVER, TASK_GENERATION_MISMATCH, QUOTA_EXCEEDED, and with INVALID_OPTIONS on what is no
   * message of an owner, or names another conversation than its task's. Before a task is made it rejects with INVALID_PAYLOAD naming the choices when
   * nothing says which capability is meant, with AGENT_NOT_FOUND, and with what the rules refuse the owner: NOT_PERMITTED,
   * TIER_VIOLATION, SANDBOX_VIOLATION, ESCALATION_REQUIRED, ...
   */
  send(owner: TaskOwner, said: Said): Promise<Task>;
  /** The task as it is now. Throws TASK_NOT_FOUND. */
  get(owner: TaskOwner, taskId: string, view?: ViewOptions): Task;
  /** The agent that works at the task. Throws TASK_NOT_FOUND. */
  agentOf(owner: TaskOwner, taskId: string): string;
  /** A page of an owner's tasks. Throws INVALID_OPTIONS for an invalid page token. */
  list(owner: TaskOwner, query: TaskQuery): TaskPage;
  /** Ends a task, and the work at it; resolves to the task when that is kept. Rejects with TASK_NOT_FOUND and TASK_OVER. */
  cancel(owner: TaskOwner, taskId: string): Promise<Task>;
  /**
   * Yields the task's changes after number `after`, as they are kept, until it is over or `signal` aborts. All readers see the
   * same. Throws TASK_NOT_FOUND.
   */
  changes(
    owner: TaskOwner,
    taskId: string,
    options?: { readonly after?: number; readonly signal?: AbortSignal },
  ): AsyncGenerator<TaskChange, void>;
  /** Resolves to the task when it is over, or waits for its owner, or `signal` aborts. Rejects with TASK_NOT_FOUND. */
  whenIdle(owner: TaskOwner, taskId: string, signal?: AbortSignal): Promise<Task>;
  /** Calls `listener` with every change of any task from now on, in order and as they are kept, until the returned function is called. */
  onChange(listener: (news: TaskNews) => void): () => void;
}
