import { CLIENT_NOTE } from '../../../runtime/protocol/client-input.ts';
import { type ErrorCode, isOrreryError, OrreryError } from '../../../runtime/protocol/errors.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { Seams } from '../../../runtime/protocol/seams.ts';
import { isTaskOver, type Task, type TaskState } from '../../../runtime/protocol/task.ts';
import type { Said, TaskOwner, TaskService, TaskNews } from '../../../runtime/protocol/task-service.ts';
import { answerTo, askedIn, inputRequests, responsesTo } from './asked.ts';
import { type CallerRights, taskOwnerOf, termsOfPrincipal } from '../../team/caller-rights.ts';
import { mayOnlyRead } from './catalogue.ts';
import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import type { McpCall } from './mcp-call.ts';
import { invalidParams } from './mcp-errors.ts';
import type { ParsedMcpOptions } from './mcp-options.ts';
import type { ServedTool } from './served-tool.ts';
import { outcomeOf, saidOf, type TaskOutcome } from './task-outcome.ts';

export interface McpTasksDeps {
  readonly tasks: TaskService;
  readonly options: ParsedMcpOptions;
  readonly seams: Seams;
  readonly rights: CallerRights;
}

/** The key in a task's metadata that marks it as a tool call. */
const CALL_NOTE = 'mcp';
/** The interval at which clients are told to poll, milliseconds. */
export const POLL_MS = 500;
/** The most tasks with partial answers that are kept. */
const MOST_PARTIAL = 1_000;

/** The owner of a task, and what they see. */
type Caller = Pick<McpCall, 'principal' | 'view'>;
type Json = never;
type Given = Readonly<Record<string, unknown>>;

/**
 * A task of a client, with the fields that all revisions share.
 *
 * - `createdAt`, `lastUpdatedAt` ISO 8601.
 * - `inputs`  the inputs that it still waits for.
 * - `outcome` undefined while it is not over, and if it was cancelled.
 */
export interface McpTaskView {
  readonly taskId: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly statusMessage: string | undefined;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly inputs: Record<string, Result> | undefined;
  readonly outcome: TaskOutcome | undefined;
}

/** Tool calls as tasks of the system: they outlive the request and the client, and with a journal the process. */
export class McpTasks {
  readonly #deps: McpTasksDeps;
  /** By task: the inputs that were answered, while others are missing. */
  readonly #partial = new Map<string, { readonly generation: number; readonly given: Given }>();

  readonly #watch: TaskWatch;

  constructor(deps: McpTasksDeps) {
    this.#deps = deps;
    this.#watch = new TaskWatch(deps.tasks);
  }

  /** Calls a tool as a task; resolves when the task is stored. `given`: the inputs that the client has answered before. */
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

  /** Starts a task; resolves to the result of `tools/call` that names it, in the caller's revision. */
  async begin(
    served: ServedTool,
    asked: { readonly args: Given; readonly call: McpCall; readonly given: Given },
  ): Promise<Result> {
    const sight = await this.start(served, asked);
    return asked.call.era === 'legacy'
      ? { task: legacyTask(sight) }
      : { resultType: 'task', ...plainTask(sight) };
  }

  /** The task, as for `tasks/get`. Throws TASK_NOT_FOUND. */
  sight(params: Given, call: Caller): McpTaskView {
    return this.#sightOf(this.#task(params, call), call);
  }

  /** Calls `onStatus` whenever the status of a task changes, until it is over or the returned function is called. */
  watch(taskId: string, onStatus: () => void): () => void {
    return this.#watch.watch(taskId, onStatus);
  }

  /** Answers all or some inputs that a task waits for. Responses to other inputs are ignored. */
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

  /** Cancels a task; resolves to whether it was still running. One that is over stays as it is. */
  async cancel(params: Given, call: McpCall): Promise<boolean> {
    const task = this.#task(params, call);
    if (isTaskOver(task.status.state)) return false;
    await this.#end(taskOwnerOf(call.principal), task.id);
    return true;
  }

  /** Resolves to the task when it is over, or waits for inputs. */
  async whenIdle(params: Given, call: McpCall): Promise<McpTaskView> {
    const { id } = this.#task(params, call);
    const task = await this.#deps.tasks.whenIdle(taskOwnerOf(call.principal), id, call.signal);
    return this.#sightOf(task, call);
  }

  /** A page of the caller's tasks that are tool calls, the newest first. */
  list(
    params: Given,
    call: McpCall,
  ): { readonly tasks: readonly McpTaskView[]; readonly nextCursor: string | undefined } {
    const { cursor } = params;
    if (cursor !== undefined && (typeof cursor !== 'string' || cursor === ''))
      throw invalidParams('cursor: is none of this list; begin again without one', { cursor });
    if (!this.#deps.rights.mayListAll(call.principal)) return { tasks: [], nextCursor: undefined };
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
    const { options, rights } = this.#deps;
    const taint = rights.taintOf(principal, 'mcp');
    return {
      ...termsOfPrincipal(principal),
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

/** A task in every answer of 2026-07-28. `ttlMs` is null: how long a task is stored is not known here. */
const plainTask = (sight: McpTaskView): Result => ({
  ...statusFields(sight),
  ttlMs: null,
  pollIntervalMs: POLL_MS,
});

/** A task in `tasks/get` of 2026-07-28: with its inputs, or its result or error. */
export const detailedTask = (sight: McpTaskView): Result => ({
  ...plainTask(sight),
  ...(sight.inputs === undefined ? {} : { inputRequests: sight.inputs }),
  ...(sight.outcome?.kind === 'result' ? { result: sight.outcome.result } : {}),
  ...(sight.outcome?.kind === 'error' ? { error: sight.outcome.error } : {}),
});

/** A task in every answer of 2025-11-25. */
export const legacyTask = (sight: McpTaskView): Result => ({
  ...statusFields(sight),
  ttl: null,
  pollInterval: POLL_MS,
});

const statusFields = ({ taskId, status, statusMessage, createdAt, lastUpdatedAt }: McpTaskView): Result => ({
  taskId,
  status,
  ...(statusMessage === undefined ? {} : { statusMessage }),
  createdAt,
  lastUpdatedAt,
});

type OnStatus = () => void;

/** Watchers by task, over a single listener at the service, which exists while there are watchers. */
class TaskWatch {
  readonly #tasks: Pick<TaskService, 'onChange'>;
  readonly #watchers = new Map<string, Set<OnStatus>>();
  #stop: (() => void) | undefined;

  constructor(tasks: Pick<TaskService, 'onChange'>) {
    this.#tasks = tasks;
  }

  /** Calls `onStatus` whenever the status of a task changes, until it is over or the returned function is called. */
  watch(taskId: string, onStatus: OnStatus): () => void {
    const watchers = this.#watchers.get(taskId) ?? new Set();
    this.#watchers.set(taskId, watchers);
    // A function of its own, because the same one may watch twice.
    const own: OnStatus = () => onStatus();
    watchers.add(own);
    this.#stop ??= this.#tasks.onChange((news) => this.#onChange(news));
    return () => {
      watchers.delete(own);
      if (watchers.size === 0 && this.#watchers.get(taskId) === watchers) this.#forget(taskId);
    };
  }

  #onChange({ taskId, changes }: TaskNews): void {
    const watchers = this.#watchers.get(taskId);
    if (watchers === undefined) return;
    const states: TaskState[] = changes.flatMap((change) => (change.kind === 'status' ? [change.state] : []));
    if (states.length === 0) return;
    if (states.some(isTaskOver)) this.#forget(taskId);
    for (const onStatus of [...watchers]) onStatus();
  }

  #forget(taskId: string): void {
    this.#watchers.delete(taskId);
    if (this.#watchers.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }
}
