import { z } from 'zod';
import { JsonValue } from '../../runtime/protocol/json-value.ts';
import { Task, TaskMessage, TaskState } from '../../runtime/protocol/task.ts';
import { TaskOwner } from '../../runtime/protocol/task-service.ts';

/**
 * What was decided about something that an agent of this task wanted to have approved, and has not done yet; `taint`: the
 * sources that whoever decided was told of.
 */
export const GivenApproval = z.object({
  approvalId: z.string(),
  hash: z.string(),
  approved: z.boolean(),
  reason: z.string().optional(),
  taint: z.array(z.string().min(1)).min(1).optional(),
});
export type GivenApproval = z.infer<typeof GivenApproval>;

/**
 * What the envelope of a task's turn says of the task, in `metadata.task`: wherever its agent runs.
 *
 * - `taskState` where the task stood when the turn began.
 * - `metadata`  what the owner said of the task when it began, such as the number of a job.
 * - `state`     what the agent has set last, in this task.
 * - `answer`    what the owner has answered to the agent's question, as it fits the question's schema.
 * - `hasApprover` somebody else than the owner is asked for approvals.
 * - `isOutside` the owner is itself where the work came from outside: it does not decide what that may reach.
 */
export const TaskNote = z.object({
  taskId: z.string(),
  contextId: z.string(),
  agentId: z.string(),
  owner: TaskOwner,
  taskState: TaskState,
  message: TaskMessage,
  history: z.array(TaskMessage),
  metadata: Task.shape.metadata,
  state: JsonValue.optional(),
  answer: JsonValue.optional(),
  approvals: z.array(GivenApproval),
  hasApprover: z.boolean(),
  isOutside: z.boolean().optional(),
});
export type TaskNote = z.infer<typeof TaskNote>;

/** The name of the note among the metadata. */
export const TASK_NOTE = 'task';

/**
 * What an agent reports of its task while it works at it. `run` is another one in each attempt, whose reports have dense
 * numbers `n` from 1: those that are told again are known by that.
 */
export const TaskReport = z.object({
  task: z.strictObject({
    run: z.string(),
    n: z.int().positive(),
    say: TaskMessage.shape.parts.optional(),
    artifact: z
      .object({
        artifactId: z.string().min(1),
        name: z.string().optional(),
        description: z.string().optional(),
        parts: TaskMessage.shape.parts,
        append: z.boolean(),
        lastChunk: z.boolean(),
      })
      .optional(),
    state: JsonValue.optional(),
    usedApproval: z.string().optional(),
  }),
});
export type TaskReport = z.infer<typeof TaskReport>['task'];
