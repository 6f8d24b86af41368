import type { AgentCard } from '../protocol/agent-card.ts';
import type { AgentProfile } from '../protocol/agent-row.ts';

/** What an agent offers, as it says while it runs. It may change these fields of its card, and no others. */
export type AgentOffer = Pick<
  AgentCard,
  'capabilities' | 'resources' | 'resourceTemplates' | 'prompts' | 'taint'
>;

/** The profile with what the agent offers now. */
export function offeringProfile(before: AgentProfile, offer: AgentOffer): AgentProfile {
  const { resources: _r, resourceTemplates: _t, prompts: _p, taint: _a, ...card } = before.card;
  return {
    ...before,
    card: { ...card, ...offer },
    capabilityIds: [...new Set(offer.capabilities.map(({ id }) => id))],
  };
}
