import { z } from 'zod';
import type { AgentCard, AgentTier } from './agent-card.ts';
import { invalidCard } from './errors.ts';
import { faultsOf } from './payload-faults.ts';
import { SemanticVersion } from './semantic-version.ts';

/** What an agent of the Agent Client Protocol layer can do. `agentSource` is the id of the agent that offers it. */
export const ACPCapability = z.object({
  id: z.string().min(1),
  name: z.string(),
  description: z.string(),
  agentSource: z.string(),
  inputSchema: z.unknown(),
  outputSchema: z.unknown(),
  tags: z.array(z.string()),
  requiresConfirmation: z.boolean(),
});
export type ACPCapability = z.infer<typeof ACPCapability>;

/** How the Agent Client Protocol layer around seed 1 describes an agent; an `AgentCard` says all of it and more. */
export const ACPAgentDescriptor = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  version: SemanticVersion,
  description: z.string(),
  author: z.string(),
  icon: z.string().optional(),
  website: z.string().optional(),
  capabilities: z.array(ACPCapability),
});
export type ACPAgentDescriptor = z.infer<typeof ACPAgentDescriptor>;

/** Fields of a card that a descriptor does not have. `nowMs` becomes `lastSeenAt`. */
export interface CardFromAcpOptions {
  readonly tier: AgentTier;
  readonly nowMs: number;
  readonly sandboxId?: string;
}

/** The card of an ACP agent. Fails with INVALID_CARD if the value is no descriptor. */
export function agentCardFromAcp(
  descriptor: unknown,
  { tier, nowMs, sandboxId }: CardFromAcpOptions,
): AgentCard {
  const parsed = ACPAgentDescriptor.safeParse(descriptor);
  if (!parsed.success) throw invalidCard(faultsOf(parsed.error, descriptor));
  const { capabilities, ...identity } = parsed.data;
  return {
    ...identity,
    tier,
    protocols: ['a2a/1.0'],
    endpoints: [{ transport: 'local' }],
    capabilities: capabilities.map(({ agentSource: _source, ...capability }) => capability),
    revision: 0,
    ...(sandboxId === undefined ? {} : { sandboxId }),
    origin: 'local',
    lastSeenAt: nowMs,
  };
}

/** The descriptor of an agent. What a card leaves out comes back empty: no author, no tags, no confirmation. */
export function acpFromAgentCard(card: AgentCard): ACPAgentDescriptor {
  const { id, name, version, description, author = '', icon, website } = card;
  return {
    id,
    name,
    version,
    description,
    author,
    ...(icon === undefined ? {} : { icon }),
    ...(website === undefined ? {} : { website }),
    capabilities: card.capabilities.map(({ tags = [], requiresConfirmation = false, ...capability }) => ({
      ...capability,
      agentSource: id,
      tags,
      requiresConfirmation,
    })),
  };
}
