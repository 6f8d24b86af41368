import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { FirewallGuard } from '../../../runtime/protocol/firewall.ts';
import { type NotingClient, noteAt } from '../../../runtime/protocol/told-failure.ts';
import type { TaskService } from '../../../runtime/protocol/task-service.ts';
import type { ToolService } from '../../../runtime/protocol/tool-service.ts';
import type { ServedTeam } from '../../team/served-team.ts';
import type { CallerRights } from '../../team/caller-rights.ts';
import { type CallTermsDeps, callTerms } from './call-terms.ts';
import { Catalogue } from './catalogue.ts';
import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import { CAPABILITY, type McpCall, TASKS_EXTENSION } from './mcp-call.ts';
import { invalidParams, McpError, missingCapability } from './mcp-errors.ts';
import type { ParsedMcpOptions } from './mcp-options.ts';
import { detailedTask, legacyTask, McpTasks, type McpTaskView } from './mcp-tasks.ts';
import { RequestStates } from './request-state.ts';
import { Suspendable } from './suspended.ts';
import { errorResult } from './tool-result.ts';
import { ToolCalls } from './tool-calls.ts';
import { withCallSpan } from './call-span.ts';
import type { Tracer } from '../../../runtime/protocol/tracer.ts';
import type { View } from './view.ts';
import { OrreryError } from '../../../runtime/protocol/errors.ts';

/**
 * - `tasks`    undefined if no call can be a task.
 * - `client`   notes for the operator what callers are not told.
 * - `firewall` attests results. @default they are not attested
 */
export interface McpServiceDeps {
  readonly tools: ToolService;
  readonly tasks: TaskService | undefined;
  readonly team: ServedTeam;
  readonly client: NotingClient;
  readonly rights: CallerRights;
  readonly firewall?: FirewallGuard | undefined;
}

type Params = Readonly<Record<string, unknown>>;
type Method = (params: Params, call: McpCall) => Result | Promise<Result>;

/** The most values that a completion may have, by MCP. */
const MOST_VALUES = 100;

/** The methods of MCP over a team's tools and tasks, for all transports and revisions. */
export class McpService {
  readonly options: ParsedMcpOptions;
  readonly calls: ToolCalls;
  readonly tools: ToolService;
  readonly #team: ServedTeam;
  readonly #catalogue: Catalogue;
  readonly #states: RequestStates;
  readonly #tasks: McpTasks | undefined;
  readonly #terms: CallTermsDeps;
  readonly #tracer: Tracer | undefined;
  readonly #methods: Readonly<Record<string, Method>>;

  constructor(deps: McpServiceDeps, options: ParsedMcpOptions) {
    const { tools, tasks, team, client, rights, firewall } = deps;
    const { seams } = client;
    this.#team = team;
    this.options = options;
    this.tools = tools;
    this.#catalogue = new Catalogue({ tools, options, team });
    this.#states = new RequestStates(options.stateKey, seams.clock);
    this.#tasks = tasks === undefined ? undefined : new McpTasks({ tasks, options, seams, rights });
    this.#terms = { options, clock: seams.clock, rights };
    this.calls = new ToolCalls(this.#terms, {
      tools,
      tasks: this.#tasks,
      states: this.#states,
      firewall,
      note: noteAt(client),
      tracer: seams.tracer,
    });
    this.#tracer = seams.tracer;
    this.#methods = this.#methodTable();
  }

  get identity() {
    const { name, description, version, documentationUrl } = this.#team.identity;
    return {
      name,
      version,
      description,
      ...(documentationUrl === undefined ? {} : { websiteUrl: documentationUrl }),
    };
  }

  /** Whether calls can be tasks. */
  get hasTasks(): boolean {
    return this.#tasks !== undefined;
  }

  viewOf(principal: Principal): View {
    return this.#catalogue.viewOf(principal);
  }

  /** The `ServerCapabilities` for clients of an era. */
  capabilities(era: 'modern' | 'legacy'): Record<string, object> {
    const both = {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
    };
    if (this.#tasks === undefined) return both;
    if (era === 'modern') return { ...both, extensions: { [TASKS_EXTENSION]: {} } };
    return { ...both, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
  }

  /** The methods of an era, without those of the connection, such as `initialize`. */
  methods(era: 'modern' | 'legacy'): readonly string[] {
    const others = era === 'modern' ? LEGACY_TASKS : MODERN_TASKS;
    const hasTasks = this.#tasks !== undefined;
    return Object.keys(this.#methods).filter(
      (method) => !others.includes(method) && (hasTasks || !method.startsWith('tasks/')),
    );
  }

  /** Runs a method. Rejects with an `McpError`, or with an error of ours that `mcpErrorOf` converts. */
  async perform(method: string, params: Params, call: McpCall): Promise<Result> {
    return (this.#methods[method] as Method)(params, call);
  }

  /** Filters ids: those of tasks of the caller remain, each once. */
  taskIdsOf(taskIds: readonly string[], principal: Principal): readonly string[] {
    return [...new Set(taskIds)].filter((taskId) => this.#sightOf(taskId, principal) !== undefined);
  }

  /**
   * Calls `tell` with each task, and again whenever its status changes, until it is over or the returned function is called.
   * Tasks look as in `tasks/get` of 2026-07-28.
   */
  watchTasks(taskIds: readonly string[], principal: Principal, tell: (task: Result) => void): () => void {
    const stops = taskIds.map((taskId) => {
      const say = (): void => {
        const sight = this.#sightOf(taskId, principal);
        if (sight !== undefined) tell(detailedTask(sight));
      };
      const stop = this.#tasks?.watch(taskId, say);
      say();
      return stop;
    });
    return () => {
      for (const stop of stops) stop?.();
    };
  }

  /**
   * Calls `tell` whenever the status of a task changes, until it is over or the returned function is called. Tasks look as in
   * 2025-11-25.
   */
  followTask(taskId: string, principal: Principal, tell: (task: Result) => void): () => void {
    const heard = (): void => {
      const sight = this.#sightOf(taskId, principal);
      if (sight !== undefined) tell(legacyTask(sight));
    };
    return this.#tasks?.watch(taskId, heard) ?? (() => undefined);
  }

  /** The caller's task; undefined if there is none any more. */
  #sightOf(taskId: string, principal: Principal): McpTaskView | undefined {
    try {
      return this.#tasks?.sight({ taskId }, { principal, view: this.viewOf(principal) });
    } catch {
      return undefined;
    }
  }

  #methodTable(): Readonly<Record<string, Method>> {
    return {
      'tools/list': ({ cursor }, { view, era }) => view.toolList(era).page(cursor),
      'tools/call': (params, call) => this.calls.call(params, call),
      'resources/list': ({ cursor }, { view }) => view.resourceList().page(cursor),
      'resources/templates/list': ({ cursor }, { view }) => view.templateList().page(cursor),
      'resources/read': (params, call) => this.#read(params, call),
      'prompts/list': ({ cursor }, { view }) => view.promptList().page(cursor),
      'prompts/get': (params, call) => this.#prompt(params, call),
      'completion/complete': (params, call) => this.#complete(params, call),
      'tasks/get': async (params, call) => this.#taskNow(params, call),
      'tasks/cancel': (params, call) => this.#cancel(params, call),
      'tasks/update': (params, call) => this.#update(params, call),
      'tasks/list': async (params, call) => this.#taskList(params, call),
      'tasks/result': (params, call) => this.#taskResult(params, call),
    };
  }

  async #read({ uri }: Params, call: McpCall): Promise<Result> {
    if (typeof uri !== 'string') throw invalidParams('uri: expected a URI');
    if (!call.view.maySee(uri))
      throw new OrreryError('RESOURCE_NOT_FOUND', `There is no resource ${uri}`, { details: { uri } });
    return withCallSpan(this.#tracer, call, { method: 'resources/read' }, () =>
      this.#suspendably(`resource ${uri}`, call, async (terms) => ({
        contents: await this.tools.read(uri, terms),
      })),
    );
  }

  async #prompt({ name, arguments: args = {} }: Params, call: McpCall): Promise<Result> {
    const prompt = typeof name === 'string' ? call.view.prompt(name) : undefined;
    if (prompt === undefined) throw invalidParams(`Unknown prompt: ${String(name)}`, { name });
    if (!isObject(args)) throw invalidParams('arguments: expected an object');
    const texts = args as Record<string, string>;
    return withCallSpan(this.#tracer, call, { method: 'prompts/get', prompt: prompt.name }, () =>
      this.#suspendably(`prompt ${prompt.name}`, call, async (terms) => ({
        ...(await this.tools.render(prompt.name, texts, terms)),
      })),
    );
  }

  async #suspendably(
    what: string,
    call: McpCall,
    work: (terms: ReturnType<typeof callTerms>) => Promise<Result>,
  ): Promise<Result> {
    const suspendable = new Suspendable(call, this.#states, what);
    const terms = callTerms(call, this.#terms);
    try {
      return await work({ ...terms, metadata: suspendable.metadata('') });
    } catch (error) {
      const paused = suspendable.pausedBy(error);
      if (paused !== undefined) return paused;
      throw error;
    }
  }

  async #complete({ ref, argument, context }: Params, call: McpCall): Promise<Result> {
    if (!isObject(ref) || !isObject(argument)) throw invalidParams('ref, argument: expected objects');
    const { name, value } = argument;
    if (typeof name !== 'string' || typeof value !== 'string')
      throw invalidParams('argument: expected a name and a value');
    const others = isObject(context) && isObject(context['arguments']) ? context['arguments'] : {};
    const values = await this.tools.complete(
      {
        of: this.#completed(ref, call.view),
        argument: name,
        value,
        others: others as Record<string, string>,
      },
      callTerms(call, this.#terms),
    );
    return {
      completion: {
        values: values.slice(0, MOST_VALUES),
        total: values.length,
        hasMore: values.length > MOST_VALUES,
      },
    };
  }

  #completed({ type, name, uri }: Params, view: View) {
    const prompt = type === 'ref/prompt' && typeof name === 'string' ? view.prompt(name) : undefined;
    if (prompt !== undefined) return { prompt: prompt.name };
    const template = type === 'ref/resource' && typeof uri === 'string' ? view.template(uri) : undefined;
    if (template !== undefined) return { uriTemplate: template.uriTemplate };
    throw invalidParams('ref: expected a prompt, or the template of a resource, that is served', {
      name,
      uri,
    });
  }

  #taskNow(params: Params, call: McpCall): Result {
    const sight = this.#tasksFor(call).sight(params, call);
    return call.era === 'legacy' ? legacyTask(sight) : detailedTask(sight);
  }

  async #update(params: Params, call: McpCall): Promise<Result> {
    await this.#tasksFor(call).update(params, call);
    return {};
  }

  async #cancel(params: Params, call: McpCall): Promise<Result> {
    const tasks = this.#tasksFor(call);
    const wasOpen = await tasks.cancel(params, call);
    if (call.era === 'modern') return {};
    if (!wasOpen) throw invalidParams('The task is over already', { taskId: params['taskId'] });
    return legacyTask(tasks.sight(params, call));
  }

  #taskList(params: Params, call: McpCall): Result {
    const { tasks, nextCursor } = this.#tasksFor(call).list(params, call);
    return { tasks: tasks.map(legacyTask), ...(nextCursor === undefined ? {} : { nextCursor }) };
  }

  /** Waits until the task is over. If it asks for inputs before, the client is asked, as in a call that is no task. */
  async #taskResult(params: Params, call: McpCall): Promise<Result> {
    const tasks = this.#tasksFor(call);
    if (call.inputResponses !== undefined) await tasks.update(params, call);
    const sight = await tasks.whenIdle(params, call);
    if (sight.inputs !== undefined) return { resultType: 'input_required', inputRequests: sight.inputs };
    return relatedTo(sight, resultOfTask(sight));
  }

  #tasksFor(call: McpCall): McpTasks {
    if (call.era === 'modern' && !call.can('tasks')) throw missingCapability('This', CAPABILITY.tasks);
    return this.#tasks as McpTasks;
  }
}

const MODERN_TASKS: readonly string[] = ['tasks/update'];
const LEGACY_TASKS: readonly string[] = ['tasks/list', 'tasks/result'];

/** The result of a task that is over. Throws the error that ended it without one. */
function resultOfTask({ outcome, taskId }: McpTaskView): Result {
  if (outcome?.kind === 'result') return outcome.result;
  if (outcome === undefined)
    return errorResult({ code: 'CANCELLED', message: 'The task was cancelled' }, taskId);
  const { message, code, data } = outcome.error;
  throw new McpError(code, message, data);
}

const relatedTo = ({ taskId }: McpTaskView, result: Result): Result => ({
  ...result,
  _meta: { ...(result['_meta'] as object | undefined), 'io.modelcontextprotocol/related-task': { taskId } },
});
