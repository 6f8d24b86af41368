import { isSystemId } from '../../runtime/protocol/policy.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import type { AgentClient, System } from '../../runtime/public.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import { decline } from './decision.ts';
import { clientPort, embedderPort } from '../agent-port/client-port.ts';
import { KeptProposals } from './kept-proposals.ts';
import { type NegotiationEvent, type NegotiationEventType, sentenceOf } from './negotiation-event.ts';
import { REASON } from './negotiation-message.ts';
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

/** The negotiator that a client's agent has had to do with, if any. */
export const negotiatorIfAny = (client: AgentClient): TaskNegotiator | undefined =>
  client.held.get(HELD_AS) as TaskNegotiator | undefined;

/** Nobody at such a client says what it can do. */
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
  return { store: new KeptProposals(records, { onUnreadable }) };
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
