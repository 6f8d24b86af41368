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
/** The one question of a handler that asks without names, and what has come of it. */
const PLAIN = 'orrery.answer';

/**
 * A call that may be suspended: its agent asks for something, the client is told, and calls again with what it has answered.
 * Nothing of it is kept here: the client carries what it has said before, signed.
 */
export class Suspendable {
  readonly #call: McpCall;
  readonly #states: RequestStates;
  readonly #of: string;
  readonly #given: Readonly<Record<string, unknown>>;

  /** `what`: the tool, prompt or resource. Throws for a state that was never given out for it, or responses that are none. */
  constructor(call: McpCall, states: RequestStates, what: string) {
    this.#call = call;
    this.#states = states;
    const { tenant, id } = call.principal;
    this.#of = JSON.stringify([tenant, id, what]);
    const { inputResponses, requestState } = call;
    if (inputResponses !== undefined && !isObject(inputResponses))
      throw invalidParams('inputResponses: expected an object');
    const before = requestState === undefined ? {} : states.open(this.#of, requestState);
    // What was asked is what was signed, whatever the client says.
    const { [PLAIN]: _, ...answers } = inputResponses ?? {};
    this.#given = { ...before, ...answers };
  }

  /** What has been answered so far, by name. */
  get given(): Readonly<Record<string, unknown>> {
    return this.#given;
  }

  /** For the metadata of what the agent is asked. */
  metadata(agentId: string): NonNullable<CallOptions['metadata']> {
    const { [PLAIN]: asked, ...given } = this.#given;
    const can = KINDS.filter((kind) => this.#call.can(NEEDS[kind]));
    const note = can.length === 0 && Object.keys(given).length === 0 ? {} : { [CLIENT_NOTE]: { can, given } };
    return asked === undefined ? note : { ...note, task: this.#turnNote(agentId, asked) };
  }

  /** What the client is answered when this is how an agent asks for something; undefined when it does not. */
  pausedBy(error: unknown): Result | undefined {
    const asked = askedBy(error);
    if (asked === undefined) return undefined;
    for (const [name, { kind }] of Object.entries(asked.inputs))
      if (!this.#call.can(NEEDS[kind]))
        throw missingCapability(`The input "${name}"`, CAPABILITY[NEEDS[kind]]);
    const known = new Set(Object.keys(asked.inputs));
    const kept = Object.entries(this.#given).filter(([name]) => !known.has(name) && name !== PLAIN);
    const plain = asked.kind === 'inputs' ? {} : { [PLAIN]: asked };
    return {
      resultType: 'input_required',
      inputRequests: inputRequests(asked.inputs),
      requestState: this.#states.seal(this.#of, { ...Object.fromEntries(kept), ...plain }),
    };
  }

  /** Whether the client does not want to answer the one question that a handler has asked without a name. */
  get isDeclined(): boolean {
    const asked = this.#given[PLAIN] as Exclude<Asked, { kind: 'inputs' }> | undefined;
    if (asked === undefined) return false;
    const responses = responsesTo(asked.inputs, this.#given);
    return Object.values(responses).some(({ action }) => action === 'decline' || action === 'cancel');
  }

  /** What a handler finds by `taskOf(ctx)`: the answer to its question. */
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
