import { isDecidedFor } from '../../runtime/protocol/approval.ts';
import { bindMethods } from '../../runtime/protocol/bind-methods.ts';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { type Part, TaskMessage, TaskState, Task } from '../../runtime/protocol/task.ts';
import { TaskOwner } from '../../runtime/protocol/task-service.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import type { Json } from './task-log.ts';
import { z } from 'zod';
import { JsonValue } from '../../runtime/protocol/json-value.ts';

/** What an agent makes in a task: `parts`, or one of them. `append`: more of the artifact with this id. */
export interface NewArtifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts: readonly Part[];
  readonly append?: boolean;
  readonly lastChunk?: boolean;
}

/**
 * The task that a handler works at.
 *
 * - `message`   what the owner has said last; `history` all that was said before it, as far as it is not too much.
 * - `metadata`  what the owner said of the task when it began, such as `xpr:jobId`; {} when it said nothing.
 * - `taskState` where the task stood when the turn began.
 * - `answer`    what the owner has answered to what this agent asked: text, or data; undefined when nothing was asked.
 * - `state`     what this agent remembers of the task: JSON, given to its next turn, also after a restart. Set it whole.
 */
export interface AgentTask {
  readonly taskId: string;
  readonly contextId: string;
  readonly owner: TaskOwner;
  readonly taskState: TaskState;
  readonly message: TaskMessage;
  readonly history: readonly TaskMessage[];
  readonly metadata: Readonly<Record<string, Json>>;
  readonly answer: Json | undefined;
  state: Json | undefined;
  /** Says something to the owner while the work goes on. */
  say(what: string | readonly Part[]): void;
  /** Shows something that is made, beside the handler's answer, which is an artifact of its own. */
  artifact(artifact: NewArtifact): void;
}

const tasks = new WeakMap<object, RunningTask | null>();

/** The task that a handler works at; undefined outside of a task. Each call returns the same object. */
export const taskOf = <State>(ctx: HandlingContext<State>): AgentTask | undefined => runningTaskOf(ctx);

/** As `taskOf`, with methods for the modules of tasks alone. */
export function runningTaskOf(
  ctx: HandlingContext<never> | HandlingContext<unknown>,
): RunningTask | undefined {
  const known = tasks.get(ctx);
  if (known !== undefined) return known ?? undefined;
  const parsed = TaskNote.safeParse(ctx.envelope?.metadata?.[TASK_NOTE]);
  const isForThis = parsed.success && parsed.data.agentId === ctx.self;
  const made = isForThis ? new RunningTask(ctx as HandlingContext<never>, parsed.data) : null;
  tasks.set(ctx, made);
  return made ?? undefined;
}

class RunningTask implements AgentTask {
  readonly note: TaskNote;
  readonly #ctx: HandlingContext<never>;
  readonly #run: string;
  readonly #usedApprovals = new Set<string>();
  #reports = 0;
  #state: Json | undefined;

  static {
    bindMethods(RunningTask.prototype);
  }

  constructor(ctx: HandlingContext<never>, note: TaskNote) {
    this.#ctx = ctx;
    this.#run = ctx.newId();
    this.note = note;
    this.#state = note.state;
  }

  get taskId(): string {
    return this.note.taskId;
  }

  get contextId(): string {
    return this.note.contextId;
  }

  get owner(): TaskOwner {
    return this.note.owner;
  }

  get taskState(): TaskState {
    return this.note.taskState;
  }

  get message(): TaskMessage {
    return this.note.message;
  }

  get history(): readonly TaskMessage[] {
    return this.note.history;
  }

  get metadata(): Readonly<Record<string, Json>> {
    return this.note.metadata ?? {};
  }

  get answer(): Json | undefined {
    return this.note.answer;
  }

  get state(): Json | undefined {
    return this.#state;
  }

  set state(state: Json | undefined) {
    this.report({ state: state ?? null });
    this.#state = state;
  }

  say(what: string | readonly Part[]): void {
    const parts: Part[] = typeof what === 'string' ? [{ text: what }] : [...what];
    if (parts.length === 0) throw invalidOptions('what', what, 'a text, or parts');
    this.report({ say: parts });
  }

  artifact({ parts, append = false, lastChunk = false, ...about }: NewArtifact): void {
    if (parts.length === 0) throw invalidOptions('artifact.parts', parts, 'at least one part');
    this.report({ artifact: { ...about, parts: [...parts], append, lastChunk } });
  }

  /** The decision about the request of this hash and taint, as the note has it; each counts once. */
  takeApproval(hash: string, taint: Taint | undefined): GivenApproval | undefined {
    const given = this.note.approvals.find(
      (one) => one.hash === hash && isDecidedFor(one, taint) && !this.#usedApprovals.has(one.approvalId),
    );
    if (given !== undefined) this.#usedApprovals.add(given.approvalId);
    return given;
  }

  /** Marks a decision as used. */
  usedApproval({ approvalId }: GivenApproval): void {
    this.report({ usedApproval: approvalId });
  }

  /** Throws NOT_SERIALISABLE. */
  report(what: Omit<TaskReport, 'run' | 'n'>): void {
    this.#ctx.report({ task: { run: this.#run, n: this.#reports + 1, ...what } });
    this.#reports += 1;
  }
}

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
