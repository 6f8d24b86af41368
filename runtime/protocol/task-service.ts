import { z } from 'zod';
import { AgentTier } from './agent-card.ts';
import { AssignmentNote } from './assignment-note.ts';
import { Budget } from './budget.ts';
import { PathHop } from './envelope.ts';
import { FreshJsonFields, JsonValue } from './json-value.ts';
import { Taint } from './taint.ts';
import { FreshTaskMessage, Task, type TaskChange, TaskMessage, type TaskState } from './task.ts';

/** Whose a task is: nobody else sees it. `tenant` undefined: of a deployment that has none. */
export const TaskOwner = z.strictObject({
  principalId: z.string().min(1),
  tenant: z.string().min(1).optional(),
});
export type TaskOwner = z.infer<typeof TaskOwner>;

/**
 * Under which terms an agent works for an owner: what the owner may reach, and may have spent.
 *
 * - `tier`          as which the owner is judged. @default 3
 * - `justification` why somebody of a lower tier asks somebody of a higher one.
 * - `chargedAs`     by which name deaths over it are charged to the owner. @default the id of its principal
 * - `readOnly`      only capabilities that change nothing. @default false
 * - `deadlineAtMs`  until when it is wanted, Unix milliseconds.
 * - `budget`        what may be spent on it.
 * - `path`          the requests above this one in systems elsewhere, oldest first.
 * - `assignment`    of a swarm elsewhere, which this work is.
 * - `resumeFrom`    what an attempt elsewhere has kept of it.
 * - `taint`         where what is said came from outside: it is on all that is asked for in the task, and its owner is not
 *                   asked whether it may reach what is privileged. @default nowhere
 */
export const TaskTerms = z.strictObject({
  tier: AgentTier.default(3),
  chargedAs: z.string().min(1).optional(),
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
 * What an owner says to an agent.
 *
 * - `taskId`    of the task that it belongs to. @default a new one
 * - `newTaskId` of the new task, when there is none yet by this id: else it belongs to that. @default one of the service's own
 * - `contextId` of the conversation. @default that of the task, or a new one
 * - `metadata`  of a new task.
 * - `terms`     of this message. @default those that anybody has
 * - `ifGeneration` only when this is the number of the task's last change. @default whatever has changed
 * - `isHandedOver` nobody else keeps or changes the message and `metadata`: they need not be copied. @default false
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

/** As `Said`, of what was handed over: nothing in it is copied. */
export const SaidForGood = Said.extend({
  message: FreshTaskMessage,
  metadata: FreshJsonFields.optional(),
});

/** How much of a task is wanted: the newest so many messages. @default all */
export interface ViewOptions {
  readonly historyLength?: number | undefined;
  readonly artifacts?: boolean | undefined;
}

/** Which of an owner's tasks are wanted, by the time of their status, the newest first. `agentId`: who works at them. */
export interface TaskQuery extends ViewOptions {
  readonly agentId?: string | undefined;
  readonly contextId?: string | undefined;
  readonly state?: TaskState | undefined;
  /** Of this time or later, Unix milliseconds. */
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

/** An agent's answer of which nothing is kept, in its conversation. */
export interface MessageAnswer {
  readonly message: TaskMessage;
  readonly contextId: string;
}

/**
 * Tasks that outlive every request for them: what the protocols at the edge are served from. Nobody sees another one's
 * tasks: they are as if they were not there.
 */
export interface TaskService {
  /**
   * Answers a message of which nothing is kept, if the capability that it means is one that answers so and it lacks nothing of
   * its input; undefined: it is to be sent. Said again it is done again. `signal` ends the work, for nobody waits for it then.
   *
   * Rejects as `send` does before a task is made, and with what may be told of what went wrong: its code, a safe sentence, and
   * in its details the `id` by which the operator finds the rest.
   */
  answer?(owner: TaskOwner, said: Said, signal: AbortSignal): Promise<MessageAnswer> | undefined;
  /**
   * Takes a message in; resolves to its task when that is kept. Said again it changes nothing.
   *
   * Rejects with TASK_NOT_FOUND, TASK_OVER, TASK_GENERATION_MISMATCH, QUOTA_EXCEEDED, and with INVALID_OPTIONS on what is no
   * message of an owner, or names another conversation than its task's. Before a task is made it rejects with INVALID_PAYLOAD naming the choices when
   * nothing says which capability is meant, with AGENT_NOT_FOUND, and with what the rules refuse the owner: NOT_PERMITTED,
   * TIER_VIOLATION, SANDBOX_VIOLATION, ESCALATION_REQUIRED, ...
   */
  send(owner: TaskOwner, said: Said): Promise<Task>;
  /** Throws TASK_NOT_FOUND. */
  get(owner: TaskOwner, taskId: string, view?: ViewOptions): Task;
  /** Who works at it. Throws TASK_NOT_FOUND. */
  agentOf(owner: TaskOwner, taskId: string): string;
  /** Throws INVALID_OPTIONS for a page token that is none. */
  list(owner: TaskOwner, query: TaskQuery): TaskPage;
  /** Ends a task, and the work at it; resolves to the task when that is kept. Rejects with TASK_NOT_FOUND and TASK_OVER. */
  cancel(owner: TaskOwner, taskId: string): Promise<Task>;
  /**
   * The task's changes after number `after`, as they are kept, until it is over or `signal` aborts. However many read
   * along, all see the same. Throws TASK_NOT_FOUND.
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
