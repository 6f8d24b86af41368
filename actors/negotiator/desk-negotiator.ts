import type { Seams } from '../../runtime/protocol/seams.ts';
import type { AgentDesk, System } from '../../runtime/public.ts';
import { decline } from './decision.ts';
import { deskMedium, hostMedium } from './desk-medium.ts';
import { type NegotiationEvent, type NegotiationEventType, sentenceOf } from './negotiation-event.ts';
import { REASON } from './negotiation-message.ts';
import { TaskNegotiator } from './task-negotiator.ts';

/** Under which name a desk holds its agent's negotiator. */
const HELD_AS = 'task-negotiator';

/** What the envelopes alone do not show. */
const NOTED: ReadonlySet<NegotiationEventType> = new Set([
  'accepted',
  'rejected',
  'timed-out',
  'answer-ignored',
  'ended',
]);

/** The negotiator that a desk's agent has had to do with, if any. */
export const negotiatorIfAny = (desk: AgentDesk): TaskNegotiator | undefined =>
  desk.held.get(HELD_AS) as TaskNegotiator | undefined;

/** The negotiator of a desk's agent, made when it is first needed. It outlives the agent's actors. */
export function negotiatorAt(desk: AgentDesk): TaskNegotiator {
  const known = negotiatorIfAny(desk);
  if (known !== undefined) return known;
  const { agentId, seams } = desk;
  const made = new TaskNegotiator({
    agentId,
    seams,
    medium: deskMedium(desk),
    onEvent: (event) => noteAt(desk, event),
  });
  desk.held.set(HELD_AS, made);
  return made;
}

/** The embedder's negotiator. It declines what is proposed to it, unless `onProposalReceived` has a handler. */
export function hostNegotiator(
  system: Pick<System, 'desk'>,
  { agentId, seams }: { agentId: string; seams: Seams },
): TaskNegotiator {
  let openedAt: AgentDesk | undefined;
  const open = async (): Promise<AgentDesk> => {
    openedAt = await system.desk();
    openedAt.held.set(HELD_AS, negotiator);
    return openedAt;
  };
  const negotiator = new TaskNegotiator({
    agentId,
    seams,
    medium: hostMedium(open),
    decide: () => decline({ reason: REASON.notCapable }),
    onEvent: (event) => {
      if (openedAt !== undefined) noteAt(openedAt, event);
    },
  });
  return negotiator;
}

function noteAt(desk: AgentDesk, event: NegotiationEvent): void {
  const { type, proposal, errorCode, agentId: other } = event;
  if (!NOTED.has(type)) return;
  const { correlationId, proposalId } = proposal;
  const about = { agentId: desk.agentId, correlationId, proposalId, reason: sentenceOf(event) };
  const whom = other === undefined ? {} : { targetAgentId: other };
  if (errorCode === undefined)
    desk.note({ type: 'negotiation', ...about, ...whom, success: type === 'accepted' });
  else desk.note({ type: 'error', ...about, errorCode, success: false });
}
