import { CLIENT_NOTE } from '../../../runtime/protocol/client-input.ts';
import { type ErrorCode, isOrreryError, OrreryError } from '../../../runtime/protocol/errors.ts';
import { chargedName, type Principal } from '../../../runtime/protocol/principal.ts';
import type { Seams } from '../../../runtime/protocol/seams.ts';
import { isTaskOver, type Task, type TaskState } from '../../../runtime/protocol/task.ts';
import type { Said, TaskOwner, TaskService, TaskNews } from '../../../runtime/protocol/task-service.ts';
import { answerTo, askedIn, inputRequests, responsesTo } from './asked.ts';
import { type Trusts, taskOwnerOf } from '../../team/caller-rights.ts';
import { taintOf } from './call-terms.ts';
import { mayOnlyRead } from './catalogue.ts';
import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import type { McpCall } from './mcp-call.ts';
import { invalidParams } from './mcp-errors.ts';
import type { ParsedMcpOptions } from './mcp-options.ts';
import type { ServedTool } from './served-tool.ts';
import { outcomeOf, saidOf, type TaskOutcome } from './task-outcome.ts';

/** `strangers`: those who prove nothing are many who know nothing of each other, and see no list of what all have. */
export interface McpTasksDeps {
  readonly tasks: TaskService;
  readonly options: ParsedMcpOptions;
  readonly seams: Seams;
  readonly trusts: Trusts;
  readonly strangers: boolean;
}

/** What of a task's metadata says that it is a call of a tool. */
const CALL_NOTE = 'mcp';
/** How often clients are to look. */
export const POLL_MS = 500;
/** Tasks whose clients have answered some of what was asked, and not all. */
const MOST_PARTIAL = 1_000;

/** Whose a task is, and what they see. */
type Caller = Pick<McpCall, 'principal' | 'view'>;
type Json = never;
type Given = Readonly<Record<string, unknown>>;

/** One task of a client's, as it stands: what of it is the same in all revisions. */
export interface McpTaskView {
  readonly taskId: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly statusMessage: string | undefined;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly inputs: Record<string, Result> | undefined;
  readonly outcome: TaskOutcome | undefined;
}

/** Calls of tools as tasks of the system: they outlive the request, the client, and with a journal the process. */
export class McpTasks {
  readonly #deps: McpTasksDeps;
  /** By task: what has been answered, of all that it asks for now. */
  readonly #partial = new Map<string, { readonly generation: number; readonly given: Given }>();

  readonly #watch: TaskWatch;

  constructor(deps: McpTasksDeps) {
    this.#deps = deps;
    this.#watch = new TaskWatch(deps.tasks);
  }

  /** Calls a tool; the answer says which task it is, which is kept by then. `given`: what the client has answered before. */
  async start(
    { tool, inputOf, mode }: ServedTool,
    { args, call, given }: { readonly args: Given; readonly call: McpCall; readonly given: Given },
  ): Promise<McpTaskView> {
    const { tasks, seams } = this.#deps;
    const { principal } = call;
    const task = await tasks.send(taskOwnerOf(principal), {
      agentId: tool.agentId,
      message: {
        messageId: seams.newId(),
        role: 'user',
        parts: [{ data: { tool: tool.capability, arguments: inputOf(args) as Json } }],
        ...(Object.keys(given).length === 0
          ? {}
          : { metadata: { [CLIENT_NOTE]: { can: [], given: given as Json } } }),
      },
      metadata: { [CALL_NOTE]: { tool: tool.name, mode } },
      terms: this.#termsOf(principal),
    });
    return this.#sightOf(task, call);
  }

  /** The answer of 2026-07-28, or of 2025-11-25, that the call is a task. */
  async begin(
    served: ServedTool,
    asked: { readonly args: Given; readonly call: McpCall; readonly given: Given },
  ): Promise<Result> {
    const sight = await this.start(served, asked);
    return asked.call.era === 'legacy'
      ? { task: legacyTask(sight) }
      : { resultType: 'task', ...plainTask(sight) };
  }

  /** `tasks/get`. Throws TASK_NOT_FOUND. */
  sight(params: Given, call: Caller): McpTaskView {
    return this.#sightOf(this.#task(params, call), call);
  }

  /** Calls `heard` whenever a task stands otherwise, until it is over, or the returned function is called. */
  watch(taskId: string, heard: () => void): () => void {
    return this.#watch.watch(taskId, heard);
  }

  /** Answers what a task asks for: all of it, or some. What was not asked for is as if it had not been said. */
  async update(params: Given, call: McpCall): Promise<void> {
    const { tasks, seams } = this.#deps;
    const task = this.#task(params, call);
    const { message } = task.status;
    if (task.status.state !== 'input-required' || message === undefined) return;
    const asked = askedIn(message);
    const given = { ...this.#partialOf(task), ...responsesTo(asked.inputs, call.inputResponses) };
    if (Object.keys(asked.inputs).some((name) => given[name] === undefined)) return this.#keep(task, given);
    this.#partial.delete(task.id);
    const answer = asked.kind === 'inputs' ? given : answerTo(asked, given);
    const owner = taskOwnerOf(call.principal);
    if (answer === undefined) return this.#end(owner, task.id);
    await tasks.send(owner, {
      agentId: tasks.agentOf(owner, task.id),
      taskId: task.id,
      message: { messageId: seams.newId(), role: 'user', parts: [{ data: answer as Json }] },
      terms: this.#termsOf(call.principal),
      ifGeneration: task.generation,
    });
  }

  /** Ends a task; one that is over stays as it is. Resolves to whether it was still to be ended. */
  async cancel(params: Given, call: McpCall): Promise<boolean> {
    const task = this.#task(params, call);
    if (isTaskOver(task.status.state)) return false;
    await this.#end(taskOwnerOf(call.principal), task.id);
    return true;
  }

  /** Resolves to the task when it is over, or asks for something. */
  async whenIdle(params: Given, call: McpCall): Promise<McpTaskView> {
    const { id } = this.#task(params, call);
    const task = await this.#deps.tasks.whenIdle(taskOwnerOf(call.principal), id, call.signal);
    return this.#sightOf(task, call);
  }

  /** A page of the calls of a client that are tasks, the newest first. */
  list(
    params: Given,
    call: McpCall,
  ): { readonly tasks: readonly McpTaskView[]; readonly nextCursor: string | undefined } {
    const { cursor } = params;
    if (cursor !== undefined && (typeof cursor !== 'string' || cursor === ''))
      throw invalidParams('cursor: is none of this list; begin again without one', { cursor });
    if (this.#deps.strangers && call.principal.kind === 'anonymous')
      return { tasks: [], nextCursor: undefined };
    const page = this.#deps.tasks.list(taskOwnerOf(call.principal), {
      pageSize: this.#deps.options.pageSize,
      historyLength: 0,
      artifacts: false,
      ...(cursor === undefined ? {} : { pageToken: cursor }),
    });
    return {
      tasks: page.tasks.filter(isCall).map((task) => this.#sightOf(task, call)),
      nextCursor: page.nextPageToken === '' ? undefined : page.nextPageToken,
    };
  }

  #termsOf(principal: Principal): NonNullable<Said['terms']> {
    const { options, trusts } = this.#deps;
    const taint = taintOf(principal, trusts);
    return {
      tier: principal.tier,
      chargedAs: chargedName(principal),
      readOnly: mayOnlyRead(options, principal),
      ...(taint === undefined ? {} : { taint: [...taint] }),
    };
  }

  async #end(owner: TaskOwner, taskId: string): Promise<void> {
    await this.#deps.tasks.cancel(owner, taskId).catch((error: unknown) => {
      if (!isOrreryError(error) || error.code !== 'TASK_OVER') throw error;
    });
  }

  #task({ taskId }: Given, { principal }: Caller): Task {
    if (typeof taskId !== 'string') throw invalidParams('taskId: expected the id of a task');
    const task = this.#deps.tasks.get(taskOwnerOf(principal), taskId);
    if (isCall(task)) return task;
    throw new OrreryError('TASK_NOT_FOUND' satisfies ErrorCode, `There is no task "${taskId}"`);
  }

  #keep(task: Task, given: Given): void {
    if (this.#partial.size >= MOST_PARTIAL) this.#partial.delete(this.#partial.keys().next().value as string);
    this.#partial.set(task.id, { generation: task.generation, given });
  }

  #partialOf({ id, generation }: Task): Given {
    const partial = this.#partial.get(id);
    return partial?.generation === generation ? partial.given : {};
  }

  #sightOf(task: Task, { view }: Caller): McpTaskView {
    const { id, status, createdAtMs } = task;
    const { state, message, atMs } = status;
    const { tool } = callIn(task);
    const outcome = outcomeOf(task, view.tool(tool), tool);
    const isAsked = state === 'input-required' || state === 'auth-required';
    return {
      taskId: id,
      status: isAsked ? 'input_required' : statusOf(task, outcome),
      statusMessage: saidOf(task),
      createdAt: new Date(createdAtMs).toISOString(),
      lastUpdatedAt: new Date(atMs).toISOString(),
      inputs: isAsked && message !== undefined ? this.#openInputs(task) : undefined,
      outcome,
    };
  }

  #openInputs(task: Task): Record<string, Result> {
    const { inputs } = askedIn(task.status.message as NonNullable<Task['status']['message']>);
    const given = this.#partialOf(task);
    const open = Object.entries(inputs).filter(([name]) => given[name] === undefined);
    return inputRequests(Object.fromEntries(open));
  }
}

const statusOf = ({ status }: Task, outcome: TaskOutcome | undefined): McpTaskView['status'] => {
  if (status.state === 'canceled') return 'cancelled';
  if (outcome === undefined) return 'working';
  return outcome.kind === 'result' ? 'completed' : 'failed';
};

const callIn = ({ metadata }: Task): { readonly tool: string } => {
  const note = metadata?.[CALL_NOTE];
  return { tool: isObject(note) && typeof note['tool'] === 'string' ? note['tool'] : '' };
};

const isCall = (task: Task): boolean => callIn(task).tool !== '';

/** What every answer of 2026-07-28 says of a task. How long one is kept is not known here. */
const plainTask = (sight: McpTaskView): Result => ({
  ...standingOf(sight),
  ttlMs: null,
  pollIntervalMs: POLL_MS,
});

/** The same with what there is to be known besides: what it asks for, or how it has ended. */
export const detailedTask = (sight: McpTaskView): Result => ({
  ...plainTask(sight),
  ...(sight.inputs === undefined ? {} : { inputRequests: sight.inputs }),
  ...(sight.outcome?.kind === 'result' ? { result: sight.outcome.result } : {}),
  ...(sight.outcome?.kind === 'error' ? { error: sight.outcome.error } : {}),
});

/** What every answer of 2025-11-25 says of one. */
export const legacyTask = (sight: McpTaskView): Result => ({
  ...standingOf(sight),
  ttl: null,
  pollInterval: POLL_MS,
});

const standingOf = ({ taskId, status, statusMessage, createdAt, lastUpdatedAt }: McpTaskView): Result => ({
  taskId,
  status,
  ...(statusMessage === undefined ? {} : { statusMessage }),
  createdAt,
  lastUpdatedAt,
});

type Heard = () => void;

/** Who wants to hear of which task, over one listener for all of them, which is there while anybody does. */
class TaskWatch {
  readonly #tasks: Pick<TaskService, 'onChange'>;
  readonly #watchers = new Map<string, Set<Heard>>();
  #stop: (() => void) | undefined;

  constructor(tasks: Pick<TaskService, 'onChange'>) {
    this.#tasks = tasks;
  }

  /** Calls `heard` whenever a task stands otherwise, until it is over, or the returned function is called. */
  watch(taskId: string, heard: Heard): () => void {
    const watchers = this.#watchers.get(taskId) ?? new Set();
    this.#watchers.set(taskId, watchers);
    // The same function may watch twice.
    const own: Heard = () => heard();
    watchers.add(own);
    this.#stop ??= this.#tasks.onChange((news) => this.#hear(news));
    return () => {
      watchers.delete(own);
      if (watchers.size === 0 && this.#watchers.get(taskId) === watchers) this.#forget(taskId);
    };
  }

  #hear({ taskId, changes }: TaskNews): void {
    const watchers = this.#watchers.get(taskId);
    if (watchers === undefined) return;
    const states: TaskState[] = changes.flatMap((change) => (change.kind === 'status' ? [change.state] : []));
    if (states.length === 0) return;
    if (states.some(isTaskOver)) this.#forget(taskId);
    for (const heard of [...watchers]) heard();
  }

  #forget(taskId: string): void {
    this.#watchers.delete(taskId);
    if (this.#watchers.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }
}
