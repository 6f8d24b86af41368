import fc from 'fast-check';
import type { AgentTier } from '../../../runtime/protocol/agent-card.ts';

export const TIERS: readonly AgentTier[] = [0, 1, 2, 3];

export const arbTier = (): fc.Arbitrary<AgentTier> => fc.constantFrom(...TIERS);

/** The tiers of a sender and a recipient. */
export const arbTierPair = (): fc.Arbitrary<{ source: AgentTier; target: AgentTier }> =>
  fc.record({ source: arbTier(), target: arbTier() });
