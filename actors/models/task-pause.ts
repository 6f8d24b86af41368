import { z } from 'zod';
import { JsonFields } from '../../runtime/protocol/json-value.ts';
import type { Tool } from '../../runtime/protocol/tool.ts';
import type { CallOptions } from '../../runtime/protocol/tool-service.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import type { Json } from '../tasks/task-log.ts';
import { TASK_NOTE, type TaskNote, TaskReport, runningTaskOf } from '../tasks/task-of.ts';
import { pause, pauseIn } from '../tasks/turn-pause.ts';
import { ModelToolCall } from './model-reply.ts';
import { ConversationTurn, ToolOutcome } from './conversation.ts';
import type { CalledTools, PausedCall } from './tool-box.ts';

/**
 * What an agent with a model keeps of a task while its owner is asked for something.
 *
 * - `asked`   what for, so that nobody goes on with it who is asked for something else.
 * - `said`    the conversation up to the reply whose calls are not all answered; `results` of those that are.
 * - `waiting` the calls that asked for something; the owner's answer is for the first. `states` is what their agents keep.
 * - `taint`   where what is kept came from outside: who goes on with it is of that, too.
 */
const Pause = z.strictObject({
  modelPause: z.literal(1),
  asked: z.string(),
  steps: z.int().nonnegative(),
  said: z.array(ConversationTurn),
  results: z.array(ToolOutcome),
  waiting: z.array(ModelToolCall).min(1),
  states: JsonFields,
  taint: z.array(z.string()),
});
type Pause = z.infer<typeof Pause>;

/** A conversation that goes on with the owner's answer. */
export type Resumed = Pick<Pause, 'steps' | 'said' | 'results' | 'waiting'>;

/**
 * The task that a handling works at, if it does, on behalf of the tools that the model calls: a tool's agent may ask the
 * task's owner, have something approved, and show what it makes, as if the task were its own.
 */
export class TaskOfTools {
  readonly #task: NonNullable<ReturnType<typeof runningTaskOf>>;
  readonly #former: Pause | undefined;
  readonly #states = new Map<string, Json>();
  #answerFor: string | undefined;
  readonly #ctx: HandlingContext<never>;
  readonly #asked: string;

  private constructor(
    ctx: HandlingContext<never>,
    task: NonNullable<ReturnType<typeof runningTaskOf>>,
    asked: string,
  ) {
    this.#ctx = ctx;
    this.#task = task;
    this.#asked = asked;
    const former = Pause.safeParse(task.state);
    this.#former = former.success && former.data.asked === asked ? former.data : undefined;
    for (const [id, state] of Object.entries(this.#former?.states ?? {})) this.#states.set(id, state as Json);
    this.#answerFor = this.#former?.waiting[0]?.id;
    for (const source of this.#former?.taint ?? []) ctx.markOutside(source);
  }

  /** Undefined where there is no task. */
  static of(ctx: HandlingContext<never>): TaskOfTools | undefined {
    const task = runningTaskOf(ctx);
    const { metadata, payload } = ctx.envelope;
    const asked = JSON.stringify([metadata?.capability, payload]);
    return task === undefined ? undefined : new TaskOfTools(ctx, task, asked);
  }

  get resumed(): Resumed | undefined {
    return this.#former;
  }

  /** What goes along with a call of a tool. */
  along(call: ModelToolCall, tool: Tool): Pick<CallOptions, 'metadata' | 'onReport'> {
    const { note } = this.#task;
    const { answer, state: _, ...others } = note;
    const state = this.#states.get(call.id);
    const forTool: TaskNote = {
      ...others,
      agentId: tool.agentId,
      message: {
        ...note.message,
        parts: [{ data: { tool: tool.capability, arguments: call.input } }],
      },
      history: [],
      ...(state === undefined ? {} : { state }),
      ...(call.id === this.#answerFor && answer !== undefined ? { answer } : {}),
    };
    return { metadata: { [TASK_NOTE]: forTool }, onReport: (report) => this.#hear(call.id, report) };
  }

  /** Keeps the conversation, and throws what asks the task's owner for what the first of them waits for. */
  pause(steps: number, said: readonly ConversationTurn[], { results, paused }: CalledTools): never {
    const [first] = paused;
    const states = paused.flatMap(({ call: { id } }) => {
      const state = this.#states.get(id);
      return state === undefined ? [] : [[id, state] as const];
    });
    const kept: Pause = {
      modelPause: 1,
      asked: this.#asked,
      steps,
      said: [...said],
      results: [...results],
      waiting: paused.map(({ call }) => call),
      states: Object.fromEntries(states),
      taint: [...(this.#ctx.taint ?? [])],
    };
    this.#task.state = kept as Json;
    throw questionOf(first as PausedCall);
  }

  /** Marks the questions as answered: the same ids then stand for new questions. */
  answered(): void {
    this.#states.clear();
    this.#answerFor = undefined;
  }

  #hear(callId: string, report: unknown): void {
    const parsed = TaskReport.safeParse(report);
    if (!parsed.success) return;
    const { run: _, n: __, state, ...told } = parsed.data.task;
    if (state !== undefined) this.#states.set(callId, state as Json);
    if (Object.keys(told).length > 0) this.#task.report(told);
  }
}

/** The question as the tool's agent has asked it. Of an agent elsewhere it is text. */
function questionOf({ error }: PausedCall): unknown {
  const pausing = pauseIn(error);
  return pausing === undefined ? error : pause(pausing);
}
