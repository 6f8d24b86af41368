import type { EnvelopeHandler } from '../../runtime/agent/agent-definition.ts';
import { systemStopped } from '../../runtime/protocol/errors.ts';
import { isSystemId } from '../../runtime/protocol/policy.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import {
  type ActorContext,
  type AgentClient,
  clientOf,
  type HandlingContext,
  type Interceptor,
  type System,
} from '../../runtime/public.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import { clientPort, embedderPort, portOf } from '../agent-port/client-port.ts';
import { CAPABILITY_NEGOTIATION } from './capability-negotiation.ts';
import { type Decision, decline } from './decision.ts';
import { REASON } from './negotiation-message.ts';
import type { TaskProposal } from './proposal.ts';
import { type NegotiationEvent, type NegotiationEventType, sentenceOf } from './proposal-event.ts';
import { JournalledProposals } from './proposal-store.ts';
import { TaskNegotiator, type TaskNegotiatorOptions } from './task-negotiator.ts';

/** Under which name a client holds its agent's negotiator. */
const HELD_AS = 'task-negotiator';

/** Under which name a client of the embedder's or of its loop says that all agents are there. */
const STARTED = 'task-negotiator-started';

/** What the envelopes alone do not show. */
const NOTED: ReadonlySet<NegotiationEventType> = new Set([
  'accepted',
  'rejected',
  'timed-out',
  'answer-ignored',
  'ended',
]);

/** The negotiator of an agent that has had to do with one. */
export const negotiatorIfAny = (client: AgentClient): TaskNegotiator | undefined =>
  client.held.get(HELD_AS) as TaskNegotiator | undefined;

/** Nobody says what the embedder can do. */
const declinesAll = { decide: () => decline({ reason: REASON.notCapable }) };

/**
 * The negotiator of an agent, made when it is first needed. It outlives the agent's actors; that of a durable agent
 * goes on with what it has left in a former thread or process.
 */
export function negotiatorAt(client: AgentClient): TaskNegotiator {
  const known = negotiatorIfAny(client);
  if (known !== undefined) return known;
  const isEmbedder = isSystemId(client.agentId);
  // It is there before the agents are.
  const port = clientPort(client, { isStarting: () => isEmbedder && !client.held.has(STARTED) });
  const made = new TaskNegotiator({
    port,
    onEvent: (event) => noteAt(port, event),
    ...storeOf(port),
    ...(isEmbedder ? declinesAll : {}),
  });
  client.held.set(HELD_AS, made);
  made.resume();
  if (!isEmbedder) made.sayAgain();
  return made;
}

/**
 * The negotiator of the embedder or of its loop, when all agents are there. It declines what is proposed to it, unless
 * `onProposalReceived` has a handler.
 *
 * - `client` where that is open already, as in a system with a journal: what the last process has left goes on.
 */
export function hostNegotiator(
  system: Pick<System, 'client'>,
  { agentId, seams, client }: { agentId: string; seams: Seams; client?: AgentClient | undefined },
): TaskNegotiator {
  if (client !== undefined) {
    const negotiator = negotiatorAt(client);
    client.held.set(STARTED, true);
    negotiator.sayAgain();
    return negotiator;
  }
  const open = async (): Promise<AgentClient> => {
    const opened = await system.client();
    opened.held.set(HELD_AS, negotiator);
    return opened;
  };
  const port = embedderPort({ agentId, seams, open });
  const negotiator = new TaskNegotiator({ port, ...declinesAll, onEvent: (event) => noteAt(port, event) });
  return negotiator;
}

function storeOf(port: AgentPort): Pick<TaskNegotiatorOptions, 'store'> {
  const { agentId, records } = port;
  if (records === undefined) return {};
  const onUnreadable = (proposalId: string, why: string): void => {
    const reason = `What was kept of the proposal ${proposalId} cannot be read: ${why}`;
    port.note({ type: 'error', agentId, proposalId, errorCode: 'STORE_INVALID', success: false, reason });
  };
  return { store: new JournalledProposals(records, { onUnreadable }) };
}

function noteAt(port: AgentPort, event: NegotiationEvent): void {
  const { type, proposal, errorCode, agentId: other } = event;
  if (!NOTED.has(type)) return;
  const { correlationId, proposalId } = proposal;
  const about = { agentId: port.agentId, correlationId, proposalId, reason: sentenceOf(event) };
  const whom = other === undefined ? {} : { targetAgentId: other };
  if (errorCode === undefined)
    port.note({ type: 'negotiation', ...about, ...whom, success: type === 'accepted' });
  else port.note({ type: 'error', ...about, errorCode, success: false });
}

const consider: EnvelopeHandler<never> = (envelope, ctx) => negotiatorOf(ctx).consider(envelope);

/** Few peers ask: what they need is loaded when the first one does. */
const answerByCard: EnvelopeHandler<never> = async (envelope, ctx) => {
  const handlers = await import('./capability-handlers.ts');
  return handlers.answerByCard(envelope, ctx);
};

/**
 * Sees to the negotiations of all agents of a thread: what is said about a proposal is answered at once, also while the
 * agent is busy; a proposal waits for its turn, and is answered by card where the agent does not handle it. So is the
 * question which capabilities two peers have in common.
 */
export const negotiationInterceptor: Interceptor = {
  types: new Set(['task-accept', 'task-reject']),
  owed: new Set(['task-proposal']),
  handlers: new Map([
    ['task-proposal', consider],
    [CAPABILITY_NEGOTIATION, answerByCard],
  ]),
  arrived: (client, envelope) => {
    const received = negotiatorAt(client).receive(envelope);
    return received === 'handled' || (received === 'news' && !client.handles(envelope.type));
  },
  lost: (client, envelope, { code }) => negotiatorAt(client).lost(envelope, code),
  ended: (client) => negotiatorIfAny(client)?.end(),
  left: (client) => negotiatorIfAny(client)?.leave(systemStopped('the proposal goes on in its next process')),
  actorsOf: (client) => {
    const negotiator = negotiatorIfAny(client);
    return negotiator === undefined ? [] : [negotiator.actor];
  },
  resumed: (client) => {
    negotiatorAt(client);
  },
};

// What authors of agents use

/**
 * The negotiator of the agent whose context this is: proposes and answers in its name. What is proposed belongs to the work
 * in hand: its conversation, its deadline, its path; and is withdrawn when that is cancelled.
 */
export function negotiatorOf<State>(ctx: ActorContext<State>): TaskNegotiator {
  return negotiatorAt(clientOf(ctx)).within(portOf(ctx));
}

/**
 * Handles proposals: `.on('task-proposal', considers((proposal, ctx) => takeOn({ ... })))`. An OrreryError that `decide`
 * throws declines with its code; what is not decided by the deadline is not answered.
 */
export const considers =
  <State>(
    decide: (proposal: TaskProposal, ctx: HandlingContext<State>) => Decision | Promise<Decision>,
  ): EnvelopeHandler<State> =>
  (envelope, ctx) =>
    negotiatorOf(ctx).consider(envelope, (proposal) => untilAborted(decide(proposal, ctx), ctx));

/** Handles assignments: `.on('task-accept', whenAssigned((proposal, ctx) => ...))`, where `run` does the work. */
export const whenAssigned =
  <State>(run: (proposal: TaskProposal, ctx: HandlingContext<State>) => unknown): EnvelopeHandler<State> =>
  (envelope, ctx) => {
    const proposal = proposalIn(envelope.payload, ctx);
    // It may have been taken back while this waited.
    return proposal?.isHeld === true && proposal.acceptedBy === ctx.self ? run(proposal, ctx) : undefined;
  };

/**
 * Handles refusals: `.on('task-reject', whenRefused((proposal, ctx) => ...))`: a task that the agent accepted is not its,
 * or no more; `rejectionReason` says why.
 */
export const whenRefused =
  <State>(run: (proposal: TaskProposal, ctx: HandlingContext<State>) => unknown): EnvelopeHandler<State> =>
  (envelope, ctx) => {
    const proposal = proposalIn(envelope.payload, ctx);
    return proposal === undefined ? undefined : run(proposal, ctx);
  };

function proposalIn<State>(payload: unknown, ctx: HandlingContext<State>): TaskProposal | undefined {
  const { proposalId } = (payload ?? {}) as { proposalId?: unknown };
  if (typeof proposalId !== 'string') return undefined;
  return negotiatorAt(clientOf(ctx)).getProposal(proposalId);
}

/** Who does not decide in time must not be taken for one that hangs. */
function untilAborted<State>(
  decision: Decision | Promise<Decision>,
  { signal }: HandlingContext<State>,
): Decision | Promise<Decision | undefined> {
  if (!(decision instanceof Promise)) return decision;
  return new Promise((resolve, reject) => {
    const leave = (): void => resolve(undefined);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    decision.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
