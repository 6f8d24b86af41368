import { CLIENT_NOTE } from '../../../runtime/protocol/client-input.ts';
import type { CallOptions } from '../../../runtime/protocol/tool-service.ts';
import { answerTo, type Asked, askedBy, inputRequests, responsesTo } from './asked.ts';
import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import { CAPABILITY, type McpCall, NEEDS } from './mcp-call.ts';
import { invalidParams, missingCapability } from './mcp-errors.ts';
import type { RequestStates } from './request-state.ts';
import { taskOwnerOf } from '../../team/caller-rights.ts';

const KINDS = ['question', 'link', 'sample', 'roots'] as const;
/** The key of the one question of a handler that asks without a name. */
const PLAIN = 'orrery.answer';

/**
 * A call that may be suspended. If its agent asks for inputs, the client gets the questions, and calls again with the
 * answers. The client also carries the earlier answers, signed, so nothing is stored here.
 */
export class Suspendable {
  readonly #call: McpCall;
  readonly #states: RequestStates;
  readonly #of: string;
  readonly #given: Readonly<Record<string, unknown>>;

  /**
   * `what` is the tool, prompt or resource. Throws INVALID_PARAMS if `requestState` was not given out for it, or
   * `inputResponses` is no object.
   */
  constructor(call: McpCall, states: RequestStates, what: string) {
    this.#call = call;
    this.#states = states;
    const { tenant, id } = call.principal;
    this.#of = JSON.stringify([tenant, id, what]);
    const { inputResponses, requestState } = call;
    if (inputResponses !== undefined && !isObject(inputResponses))
      throw invalidParams('inputResponses: expected an object');
    const before = requestState === undefined ? {} : states.open(this.#of, requestState);
    // The question is taken from the signed state only.
    const { [PLAIN]: _, ...answers } = inputResponses ?? {};
    this.#given = { ...before, ...answers };
  }

  /** The answers so far, by name. */
  get given(): Readonly<Record<string, unknown>> {
    return this.#given;
  }

  /** The metadata of the call to the agent: the answers so far, and which inputs the client can give. */
  metadata(agentId: string): NonNullable<CallOptions['metadata']> {
    const { [PLAIN]: asked, ...given } = this.#given;
    const can = KINDS.filter((kind) => this.#call.can(NEEDS[kind]));
    const note = can.length === 0 && Object.keys(given).length === 0 ? {} : { [CLIENT_NOTE]: { can, given } };
    return asked === undefined ? note : { ...note, task: this.#turnNote(agentId, asked) };
  }

  /**
   * The result that asks the client for inputs; undefined if the error is no question. Throws -32021 if the client lacks the
   * ability to answer.
   */
  pausedBy(error: unknown): Result | undefined {
    const asked = askedBy(error);
    if (asked === undefined) return undefined;
    for (const [name, { kind }] of Object.entries(asked.inputs))
      if (!this.#call.can(NEEDS[kind]))
        throw missingCapability(`The input "${name}"`, CAPABILITY[NEEDS[kind]]);
    const known = new Set(Object.keys(asked.inputs));
    const earlier = Object.entries(this.#given).filter(([name]) => !known.has(name) && name !== PLAIN);
    const plain = asked.kind === 'inputs' ? {} : { [PLAIN]: asked };
    return {
      resultType: 'input_required',
      inputRequests: inputRequests(asked.inputs),
      requestState: this.#states.seal(this.#of, { ...Object.fromEntries(earlier), ...plain }),
    };
  }

  /** Whether the client has declined the one question without a name. */
  get isDeclined(): boolean {
    const asked = this.#given[PLAIN] as Exclude<Asked, { kind: 'inputs' }> | undefined;
    if (asked === undefined) return false;
    const responses = responsesTo(asked.inputs, this.#given);
    return Object.values(responses).some(({ action }) => action === 'decline' || action === 'cancel');
  }

  /** What `taskOf(ctx)` returns to the handler: a task with the answer to its question. */
  #turnNote(agentId: string, asked: unknown): Record<string, unknown> | undefined {
    const { principal } = this.#call;
    const answer = answerTo(asked as Exclude<Asked, { kind: 'inputs' }>, this.#given);
    const id = `mcp/${principal.id}`;
    return {
      taskId: id,
      contextId: id,
      agentId,
      owner: taskOwnerOf(principal),
      taskState: 'working',
      message: { messageId: id, role: 'user', parts: [{ data: answer ?? null }] },
      history: [],
      ...(answer === undefined ? {} : { answer }),
      approvals: [],
      hasApprover: true,
    };
  }
}
