import { notPermitted } from '../../../runtime/protocol/edge-errors.ts';
import { isOrreryError } from '../../../runtime/protocol/errors.ts';
import type { FirewallGuard } from '../../../runtime/protocol/firewall.ts';
import type { NoteFailure } from '../../../runtime/protocol/told-failure.ts';
import type { Tracer } from '../../../runtime/protocol/tracer.ts';
import type { ToolService } from '../../../runtime/protocol/tool-service.ts';
import { withCallSpan } from './call-span.ts';
import { type CallTermsDeps, callTerms } from './call-terms.ts';
import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import { CAPABILITY, type McpCall } from './mcp-call.ts';
import { invalidParams, McpError, missingCapability, toolErrorOf } from './mcp-errors.ts';
import type { McpTasks } from './mcp-tasks.ts';
import type { RequestStates } from './request-state.ts';
import { CALL_NAME, calledIn, SEARCH_NAME, searchResult } from './search-tools.ts';
import type { ServedTool } from './served-tool.ts';
import { Suspendable } from './suspended.ts';
import { errorResult, resultOf, withAttestation } from './tool-result.ts';

/**
 * - `tasks`    undefined if no call can be a task.
 * - `firewall` attests results.
 * - `note`     keeps for the operator what callers are not told.
 */
export interface ToolCallsDeps {
  readonly tools: ToolService;
  readonly tasks: McpTasks | undefined;
  readonly states: RequestStates;
  readonly firewall: FirewallGuard | undefined;
  readonly note: NoteFailure;
  readonly tracer: Tracer | undefined;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Runs `tools/call`. */
export class ToolCalls {
  readonly #terms: CallTermsDeps;
  readonly #deps: ToolCallsDeps;

  constructor(terms: CallTermsDeps, deps: ToolCallsDeps) {
    this.#terms = terms;
    this.#deps = deps;
  }

  /** Runs `tools/call`. Rejects with an `McpError` if the params are wrong, or name no tool that the caller sees. */
  async call(params: Arguments, call: McpCall): Promise<Result> {
    const { name, arguments: given = {} } = params;
    if (typeof name !== 'string') throw invalidParams('name: expected the name of a tool');
    if (!isObject(given)) throw invalidParams('arguments: expected an object');
    return this.#callNamed(name, given, { params, call });
  }

  /** The scopes that a tool needs and the caller lacks. */
  scopesLacking({ tool }: ServedTool, { principal }: Pick<McpCall, 'principal'>): readonly string[] {
    const { of } = this.#terms.options.scopes;
    return of === undefined ? [] : of(tool).filter((scope) => !principal.roles.includes(scope));
  }

  async #callNamed(
    name: string,
    args: Arguments,
    given: { readonly params: Arguments; readonly call: McpCall },
  ): Promise<Result> {
    const { call, params } = given;
    const served = call.view.tool(name);
    if (served === undefined) {
      if (call.view.searches && name === SEARCH_NAME) return searchResult(call.view.tools, args);
      if (!call.view.searches || name !== CALL_NAME) throw invalidParams(`Unknown tool: ${name}`, { name });
      const meant = calledIn(args);
      if (meant.name === CALL_NAME || meant.name === SEARCH_NAME)
        throw invalidParams(`Unknown tool: ${meant.name}`);
      return this.#callNamed(meant.name, meant.args, given);
    }
    const lacking = this.scopesLacking(served, call);
    if (lacking.length > 0) throw notPermitted(`"${name}" needs ${lacking.join(', ')}`);
    const asked = { method: 'tools/call', tool: served.tool.name };
    return withCallSpan(this.#deps.tracer, call, asked, () =>
      this.#run(served, args, { call, task: params['task'] }),
    );
  }

  async #run(
    served: ServedTool,
    args: Arguments,
    { call, task }: { readonly call: McpCall; readonly task: unknown },
  ): Promise<Result> {
    const { tools, tasks, states, firewall, note } = this.#deps;
    const { tool, mode } = served;
    const suspendable = new Suspendable(call, states, `tool ${tool.name}`);
    const asTask = tasks === undefined ? 'no' : this.#asTask(served, call, task);
    if (asTask === 'yes' && (mode !== 'answered' || Object.keys(suspendable.given).length > 0))
      return (tasks as McpTasks).begin(served, { args, call, given: suspendable.given });
    if (suspendable.isDeclined)
      return { content: [{ type: 'text', text: 'What it asked for was declined' }], isError: true };
    try {
      const metadata = suspendable.metadata(tool.agentId);
      const terms = callTerms(call, this.#terms);
      const output = await tools.call(tool.name, served.inputOf(args), { ...terms, metadata });
      const result = resultOf(served, output);
      const { structuredContent, content } = result;
      return withAttestation(result, await firewall?.attest(structuredContent ?? content));
    } catch (error) {
      const paused = suspendable.pausedBy(error);
      if (paused !== undefined) return paused;
      if (error instanceof McpError || call.signal.aborted || isGone(error)) throw error;
      const told = toolErrorOf(error, note);
      if (told.id !== undefined) call.fault(error);
      return errorResult(told, tool.agentId);
    }
  }

  /** Whether the call becomes a task. Throws if it must, and the client has no tasks. */
  #asTask({ mode, name }: ServedTool, call: McpCall, task: unknown): 'yes' | 'no' {
    if (mode === 'never') return 'no';
    if (call.era === 'legacy') {
      if (isObject(task)) return 'yes';
      if (mode === 'always' || mode === 'answered')
        throw new McpError(-32601, `"${name}" runs only as a task: the request lacks "task"`);
      return 'no';
    }
    if (mode === 'asked') return 'no';
    if (call.can('tasks')) return 'yes';
    if (mode === 'preferred') return 'no';
    throw missingCapability(`"${name}"`, CAPABILITY.tasks);
  }
}

/** Whether the tool has left the team since the caller's view was made. */
const isGone = (error: unknown): boolean => isOrreryError(error) && error.code === 'TOOL_NOT_FOUND';
