import { delegationMetadata } from '../../runtime/protocol/a2a-extension.ts';
import type { AgentCard, CapabilityDescriptor } from '../../runtime/protocol/agent-card.ts';
import { type ApprovalRequest, approvalHash, isDecidedFor } from '../../runtime/protocol/approval.ts';
import { notPermitted } from '../../runtime/protocol/edge-errors.ts';
import { agentNotFound, errorToData, isOrreryError, OrreryError } from '../../runtime/protocol/errors.ts';
import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import { type NoteFailure, toldFailure } from '../../runtime/protocol/told-failure.ts';
import { taintFrom } from '../../runtime/protocol/taint-from.ts';
import type { TaskMessage } from '../../runtime/protocol/task.ts';
import type { TaskOwner, TaskTerms } from '../../runtime/protocol/task-service.ts';
import type { AgentClient, Asking } from '../../runtime/public.ts';
import {
  capabilityMeant,
  contentOf,
  approvalParts,
  type CallPlan,
  planTurn,
  questionParts,
  type Awaited,
  memoOf,
  type TurnMemo,
} from './turn-plan.ts';
import { showStream, partsOf, TurnReports } from './turn-reports.ts';
import type { AnsweredMessage, AskedMessage } from './task-engine.ts';
import { agentMessage, failureParts } from './task-errors.ts';
import type { Json, TaskOpening } from './task-log.ts';
import type { GivenApproval } from './task-of.ts';
import { noteOf, type Turn, type TurnOutcome } from './task-turns.ts';
import { endedBy, pauseIn, type TurnPause } from './turn-pause.ts';

/**
 * - `client`        in whose name agents are asked: that of the embedder.
 * - `cardOf`      of an agent that runs here.
 * - `isKept`      tasks outlive the process.
 * - `hasApprover` somebody else than the owner is asked for approvals.
 * - `turnMs`      how long a turn may take whose terms do not say.
 * - `note`        keeps for the operator what owners are not told.
 */
export interface AgentTurnsDeps {
  readonly client: AgentClient;
  readonly cardOf: (agentId: string) => AgentCard | undefined;
  readonly isKept: boolean;
  readonly hasApprover: () => boolean;
  readonly turnMs: number;
  readonly note: NoteFailure;
}

/** A decision, and its task. */
type GivenIn = Omit<GivenApproval, 'reason' | 'taint'> & {
  readonly taskId: string;
  readonly taint?: Taint | undefined;
};

/** The empty memo of a message that is answered without a task. */
const NOTHING: TurnMemo = { approvals: [] };

/** What is asked of an agent in a turn. */
interface Call {
  readonly capability: CapabilityDescriptor;
  readonly input: Json;
  readonly memo: TurnMemo;
}

/**
 * Has the agents of a running system do the turns of tasks: by asking them for the capability that a message means, under
 * the terms of the message. An agent needs to know nothing of tasks for that.
 */
export class AgentTurns {
  readonly #deps: AgentTurnsDeps;
  /** Unused decisions of owners in the turns that go on, by ids that are made here. */
  readonly #given = new Map<string, GivenIn>();

  constructor(deps: AgentTurnsDeps) {
    this.#deps = deps;
  }

  /** Throws the reason why a message is not accepted: no such agent, no capability that it could mean, or a rule. */
  readonly check = ({ owner, agentId, message, terms, memo }: AskedMessage): void => {
    const capability = capabilityMeant(this.#cardOf(agentId), contentOf(message), memoOf(memo).capability);
    requireReadOnly(agentId, capability, terms);
    const verdict = this.#deps.client.refusalOf({
      recipient: agentId,
      capability: capability.id,
      payload: undefined,
      ...this.#underTerms(owner, terms),
    });
    if (verdict === undefined) return;
    const { code, reason, retryAfterMs } = verdict;
    const details = { recipient: agentId, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    throw new OrreryError(code, reason, { details });
  };

  /** Whether an agent has a capability that is answered so. */
  readonly mayAnswer = (agentId: string): boolean =>
    this.#deps.cardOf(agentId)?.capabilities.some(({ answers }) => answers === 'message') === true;

  /** The full name of what a message asks for. Throws INVALID_PAYLOAD naming the choices. */
  readonly toolMeant = ({
    agentId,
    message,
    memo,
  }: Pick<AskedMessage, 'agentId' | 'message' | 'memo'>): string =>
    `${agentId}.${capabilityMeant(this.#cardOf(agentId), contentOf(message), memoOf(memo).capability).id}`;

  /** Answers a message without a task; undefined for one that needs a task. */
  readonly answer = (asked: AnsweredMessage): (() => Promise<TaskMessage>) | undefined => {
    const { agentId, message, terms } = asked;
    const plan = planTurn(this.#cardOf(agentId), message, NOTHING);
    if (plan.kind !== 'call' || plan.capability.answers !== 'message') return undefined;
    this.check(asked);
    requireReadOnly(agentId, plan.capability, terms);
    return () => this.#answered(asked, plan);
  };

  /** What becomes of a turn that a former process had begun: an agent that is durable is asked the same again. */
  readonly onRestart = (
    opening: TaskOpening,
    memo: Json | undefined,
    number: number,
  ): 'again' | { readonly failed: string } => {
    const { agentId } = opening;
    const { turn, capability } = memoOf(memo);
    const descriptor = this.#deps.cardOf(agentId)?.capabilities.find(({ id }) => id === capability);
    // It was not even asked.
    if (turn?.number !== number) return 'again';
    if (this.#isKeptFor(agentId, descriptor) || this.#mayTryAgain(agentId, descriptor)) return 'again';
    return { failed: `The system ended while ${agentId} worked at it, and ${agentId} does nothing twice` };
  };

  readonly run = async (turn: Turn): Promise<TurnOutcome | undefined> => {
    const call = this.#begin(turn);
    if ('state' in call) return call;
    const { clock, newId } = this.#deps.client.seams;
    const reports = new TurnReports({ clock, newId, turn, memo: call.memo });
    const { id: taskId } = turn.opening;
    const { approvals } = call.memo;
    for (const given of approvals) this.#given.set(given.approvalId, { ...given, taskId });
    try {
      if (this.#mustBeNoted(turn.opening.agentId, call.capability)) await turn.whenKept();
      await this.#ask(turn, call, reports);
      reports.end();
      return this.#withSpent({ state: 'completed' }, reports);
    } catch (error) {
      reports.end();
      return this.#withSpent(this.#failed(turn, reports, error), reports);
    } finally {
      for (const { approvalId } of approvals) this.#given.delete(approvalId);
    }
  };

  async #answered(
    { owner, agentId, terms, contextId, signal }: AnsweredMessage,
    { capability, input }: CallPlan,
  ): Promise<TaskMessage> {
    const { client, note } = this.#deps;
    try {
      const output = await client.ask({
        recipient: agentId,
        capability: capability.id,
        payload: input,
        correlationId: contextId,
        signal,
        ...this.#underTerms(owner, terms),
      });
      const parts = partsOf(output);
      return agentMessage(client.seams.newId(), parts.length === 0 ? [{ text: '' }] : parts);
    } catch (error) {
      const { code, message, id } = toldFailure(error, note);
      const { retryAfterMs } = errorToData(error).details ?? {};
      throw new OrreryError(code, message, {
        details: { ...(id && { id }), ...(typeof retryAfterMs === 'number' && { retryAfterMs }) },
      });
    }
  }

  /**
   * Says whether the owner of a task that is worked at has decided so. Then that is used: whoever asks next, with the same
   * note, is told that it is not. It may be another agent than that of the task, which has handed the note on. `taint` is
   * where what is to be done came from: the owner must have been told of all of it.
   */
  readonly takeGiven = ({ taskId, approvalId, hash, approved, taint }: GivenIn): boolean => {
    const given = this.#given.get(approvalId);
    const isThis =
      given !== undefined && given.taskId === taskId && given.hash === hash && given.approved === approved;
    return isThis && isDecidedFor(given, taint) && this.#given.delete(approvalId);
  };

  /** What the agent is asked; or how the turn ends before that. */
  #begin(turn: Turn): Call | TurnOutcome {
    const card = this.#cardOf(turn.opening.agentId);
    const former = memoOf(turn.memo);
    // The taint of earlier messages stays: they are part of what is asked now.
    const taint = mergeTaint(former.taint, turn.terms.taint);
    const memo: TurnMemo = { ...former, ...(taint && { taint: [...taint] }) };
    const { turn: begun, capability: begunFor = '', input = null } = memo;
    if (begun?.number === turn.number)
      return { capability: capabilityMeant(card, { tool: begunFor }), input, memo };
    const plan = planTurn(card, turn.message, memo);
    if (plan.kind === 'question') {
      const { capability, awaits, parts } = plan;
      return this.#asks(turn, { ...memo, capability, input: plan.input, awaits }, parts, 'input-required');
    }
    const { answer, approvals, capability } = plan;
    requireReadOnly(card.id, capability, turn.terms);
    const { awaits: _, ...kept } = memo;
    const next: TurnMemo = {
      ...kept,
      capability: capability.id,
      input: plan.input,
      approvals,
      turn: { number: turn.number, reports: 0, ...(answer === undefined ? {} : { answer }) },
    };
    // In the journal it stands before what is asked now.
    turn.remember(next as Json);
    return { capability, input: plan.input, memo: next };
  }

  async #ask(turn: Turn, call: Call, reports: TurnReports): Promise<void> {
    const { client } = this.#deps;
    const { capability } = call;
    const asking = this.#askingOf(turn, call, reports);
    const artifactId = `result-${turn.number}`;
    if (capability.streams === true) {
      const shown = { artifactId, name: capability.name, clock: client.seams.clock };
      return showStream(turn, client.stream(asking), shown);
    }
    const output = await this.#answerOf(turn, call, asking);
    const parts = partsOf(output);
    if (parts.length > 0) turn.artifact({ artifactId, name: capability.name, parts }, { lastChunk: true });
  }

  /**
   * What the agent answers. What was cancelled when a former engine was closed, which nobody wanted to be cancelled, is done
   * again if its agent does things again.
   */
  async #answerOf(turn: Turn, { capability }: Call, asking: Asking): Promise<unknown> {
    try {
      return await this.#deps.client.ask(asking);
    } catch (error) {
      const wasLeft =
        turn.again && isOrreryError(error) && error.code === 'CANCELLED' && !turn.signal.aborted;
      if (!wasLeft) throw error;
      const { agentId } = turn.opening;
      if (!this.#mayTryAgain(agentId, capability))
        throw new OrreryError('CANCELLED', `The system ended while ${agentId} worked at it`);
      const { envelopeId: _, ...anew } = asking;
      return this.#deps.client.ask(anew);
    }
  }

  #askingOf(turn: Turn, { capability, input, memo }: Call, reports: TurnReports): Asking {
    const { opening, number, terms, signal } = turn;
    const { agentId, owner, key, contextId } = opening;
    const note = noteOf(turn, memo, this.#deps.hasApprover());
    return {
      recipient: agentId,
      capability: capability.id,
      payload: input,
      correlationId: contextId,
      metadata: { task: note, ...(terms.assignment && { swarm: terms.assignment }) },
      signal,
      onProgress: reports.hear,
      ...(terms.resumeFrom !== undefined && { resumeFrom: terms.resumeFrom }),
      onSpent: reports.spent,
      onTaint: reports.tainted,
      ...this.#underTerms(owner, { ...terms, taint: memo.taint }),
      ...(this.#isKeptFor(agentId, capability) && { envelopeId: `task/${key}/${number}` }),
    };
  }

  #underTerms(
    { principalId: id, tenant }: TaskOwner,
    { tier, chargedAs, roles, justification, deadlineAtMs, budget, path, taint }: TaskTerms,
  ): Pick<Asking, 'onBehalfOf' | 'deadlineAtMs' | 'justification' | 'budget' | 'path' | 'taint'> {
    const { client, turnMs } = this.#deps;
    return {
      onBehalfOf: {
        id,
        tier,
        ...(chargedAs && { chargedAs }),
        ...(tenant !== undefined && { tenant }),
        ...(roles && { roles }),
      },
      deadlineAtMs: deadlineAtMs ?? client.seams.clock.now() + turnMs,
      ...(justification && { justification }),
      ...(budget && { budget }),
      ...(path && { path }),
      ...(taint && { taint }),
    };
  }

  #failed(turn: Turn, reports: TurnReports, error: unknown): TurnOutcome | undefined {
    if (turn.signal.aborted) throw error;
    const pausing = pauseIn(error);
    if (pausing !== undefined) return this.#pauses(turn, reports, pausing);
    const isStop = isOrreryError(error) && (error.code === 'SYSTEM_STOPPED' || error.code === 'CONTROL_LOST');
    if (isStop && this.#deps.isKept) return undefined;
    if (isOrreryError(error)) reports.partial(error.details['partial']);
    return {
      state: endedBy(error),
      message: agentMessage(this.#deps.client.seams.newId(), failureParts(error, this.#deps.note)),
    };
  }

  /** Adds the cost to the outcome, where a budget limits it. */
  #withSpent(outcome: TurnOutcome | undefined, { cost }: TurnReports): TurnOutcome | undefined {
    if (outcome === undefined || cost === undefined) return outcome;
    const text = `${cost.tokens} tokens and ${cost.costUsd} USD were spent`;
    const message = outcome.message ?? agentMessage(this.#deps.client.seams.newId(), [{ text }]);
    const metadata = { ...message.metadata, ...delegationMetadata({ spent: cost }) };
    return { ...outcome, message: { ...message, metadata } };
  }

  #pauses(
    turn: Turn,
    { memo, taint }: TurnReports,
    { state, question, schema, approval }: TurnPause,
  ): TurnOutcome {
    if (approval !== undefined) {
      const { taint: sources, ...asked } = withAllSources(approval, taint);
      const approvalId = this.#deps.client.seams.newId();
      // The hash is of what is shown, not of what the agent says that it is.
      const awaits: Awaited & { kind: 'approval' } = {
        kind: 'approval',
        approvalId,
        hash: approvalHash(asked),
        ...asked,
        ...(sources && { taint: [...sources] }),
      };
      return this.#asks(turn, { ...memo, awaits }, approvalParts(awaits), state);
    }
    const awaits: Awaited =
      state === 'auth-required'
        ? { kind: 'proof' }
        : { kind: 'answer', question, ...(schema === undefined ? {} : { schema }) };
    return this.#asks(turn, { ...memo, awaits }, questionParts(question, schema), state);
  }

  #asks(
    turn: Turn,
    memo: TurnMemo,
    parts: ReturnType<typeof questionParts>,
    state: TurnPause['state'],
  ): TurnOutcome {
    turn.remember(memo as Json);
    return { state, message: agentMessage(this.#deps.client.seams.newId(), parts) };
  }

  #cardOf(agentId: string): AgentCard {
    const card = this.#deps.cardOf(agentId);
    if (card === undefined) throw agentNotFound(agentId);
    return card;
  }

  /** What it is asked outlives the process, and can be asked for again. A stream cannot. */
  #isKeptFor(agentId: string, capability: CapabilityDescriptor | undefined): boolean {
    const { client, isKept } = this.#deps;
    return isKept && capability?.streams !== true && client.isKeptFor(agentId);
  }

  /**
   * What it does nothing twice of is asked for once the journal has that it is: what is sent to a durable agent waits for the
   * journal by itself.
   */
  #mustBeNoted(agentId: string, capability: CapabilityDescriptor): boolean {
    const { client, isKept } = this.#deps;
    return isKept && !client.isKeptFor(agentId) && !this.#mayTryAgain(agentId, capability);
  }

  #mayTryAgain(agentId: string, capability: CapabilityDescriptor | undefined): boolean {
    return capability?.readOnly === true || this.#deps.client.deliveryOf(agentId) === 'retry';
  }
}

/**
 * The request with what came with it, where it is of anything that came from outside: whoever asked for it has taken that in
 * as well by now, and it is of that when it is asked for again. The owner is told, and so need not be asked a second time.
 */
function withAllSources(request: ApprovalRequest, taint: Taint | undefined): ApprovalRequest {
  const { taint: told, message } = request;
  const more = told === undefined ? [] : (taint ?? []).filter((source) => !told.includes(source));
  if (told === undefined || more.length === 0) return request;
  const also = `What asks for it has also taken in what came from ${more.join(', ')}.`;
  return { ...request, taint: taintFrom([...told, ...more]) ?? told, message: `${message} ${also}` };
}

function requireReadOnly(agentId: string, { id, readOnly }: CapabilityDescriptor, terms: TaskTerms): void {
  if (terms.readOnly && readOnly !== true)
    throw notPermitted(`"${id}" of ${agentId} is not declared readOnly, and nothing else may be asked for`);
}
