import { appended, noteOf, type SceneDraft } from './scene-draft.ts';
import type { MachineScene, ProposalScene } from './scene.ts';
import type { Fact, WatchedEvent } from './watched-event.ts';

/** What an event says of proposals and swarms. */
export function applyWork(draft: SceneDraft, event: WatchedEvent): void {
  const { type, proposalId } = event;
  if (proposalId !== undefined && (type === 'negotiation' || type === 'error'))
    negotiated(draft, event, proposalId);
  if (type === 'swarm') draft.note('swarmNotes', event, event.reason ?? 'a swarm changed');
  if (type === 'machine-step' && event.machine === 'proposer') proposed(draft, event);
}

function negotiated(draft: SceneDraft, event: WatchedEvent, proposalId: string): void {
  const { agentId, targetAgentId, timestamp, success, reason = '', correlationId, errorCode } = event;
  const proposal = draft.proposalOf(proposalId);
  proposal.conversationId ??= correlationId;
  proposal.notes = appended(proposal.notes, noteOf(event, reason), 20);
  // Both sides tell of it: whoever proposed it is the one that tells of an acceptance.
  if (success === true) {
    Object.assign(proposal, { proposer: agentId, assignee: targetAgentId, sinceMs: timestamp });
    if (!isToldByMachine(draft, proposal)) proposal.state = 'accepted';
  } else if (errorCode === 'PROPOSAL_TIMEOUT') {
    proposal.proposer ??= agentId;
    Object.assign(proposal, { state: 'expired', sinceMs: timestamp });
  } else {
    proposal.proposer ??= agentId;
    if (isToldByMachine(draft, proposal)) return;
    if (/\bended\b|\bover\b|\breleased\b|\breturned\b/.test(reason))
      Object.assign(proposal, { state: 'ended', sinceMs: timestamp });
    else if (proposal.state === 'pending' && /reject/.test(reason))
      Object.assign(proposal, { state: 'rejected', sinceMs: timestamp });
  }
}

const isToldByMachine = (draft: SceneDraft, { id }: ProposalScene): boolean =>
  draft.proposals.get(id)?.bids !== undefined;

function proposed(draft: SceneDraft, event: WatchedEvent): void {
  const { actorId, agentId, to, timestamp } = event;
  if (actorId === undefined) return;
  takeProposal(draft, {
    id: actorId,
    agentId,
    state: to ?? 'pending',
    facts: event.facts,
    sinceMs: timestamp,
  });
}

/** What the machine of a proposer says of its proposal. */
export function takeProposal(
  draft: SceneDraft,
  told: {
    readonly id: string;
    readonly agentId: string | undefined;
    readonly state: string;
    readonly facts: MachineScene['facts'] | undefined;
    readonly sinceMs: number;
  },
): void {
  const proposal = draft.proposalOf(told.id);
  proposal.proposer = told.agentId ?? proposal.proposer;
  if (proposal.state !== told.state) proposal.sinceMs = told.sinceMs;
  proposal.state = told.state;
  const { facts } = told;
  proposal.bids = numberOf(facts?.get('bids')) ?? proposal.bids ?? 0;
  proposal.capability = textOf(facts?.get('capability')) ?? proposal.capability;
  proposal.deadlineAtMs = numberOf(facts?.get('deadlineAtMs')) ?? proposal.deadlineAtMs;
  proposal.assignee = textOf(facts?.get('counterpart')) ?? proposal.assignee;
}

export const numberOf = (fact: Fact | undefined): number | undefined =>
  typeof fact === 'number' ? fact : undefined;

export const textOf = (fact: Fact | undefined): string | undefined =>
  typeof fact === 'string' && fact !== '' ? fact : undefined;
