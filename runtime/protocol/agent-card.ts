import { z } from 'zod';
import { invalidCard } from './errors.ts';
import { faultsOf } from './payload-faults.ts';
import { Taint } from './taint.ts';
import { SemanticVersion } from './semantic-version.ts';
import { PromptDescriptor, ResourceDescriptor, ResourceTemplateDescriptor, ToolAnnotations } from './tool.ts';

/** 0 orchestrator, 1 strategic, 2 operational, 3 specialist. */
export const AgentTier = z.literal([0, 1, 2, 3]);
export type AgentTier = z.infer<typeof AgentTier>;

/** Where an agent can be reached: a transport and, unless it is local, a URL, topic key or multiaddr. */
export const AgentEndpoint = z.object({
  transport: z.enum(['local', 'hyperswarm', 'websocket', 'libp2p']),
  address: z.string().optional(),
});
export type AgentEndpoint = z.infer<typeof AgentEndpoint>;

/**
 * What an agent can be asked for: a dotted id, and JSON Schemas of input and output.
 *
 * - `requiresConfirmation` a person approves each use.
 * - `readOnly`, …          as in `ToolAnnotations`.
 * - `streams`              it gives any number of outputs, one after the other.
 * - `isContent`            its output is `ToolContent`.
 * - `carries`              `structured` if input and output are not JSON.
 */
export const CapabilityDescriptor = z.object({
  id: z.string().min(1),
  name: z.string(),
  description: z.string(),
  inputSchema: z.unknown(),
  outputSchema: z.unknown(),
  tags: z.array(z.string()).optional(),
  requiresConfirmation: z.boolean().optional(),
  ...ToolAnnotations.shape,
  streams: z.boolean().optional(),
  isContent: z.boolean().optional(),
  carries: z.literal('structured').optional(),
  answers: z.literal('message').optional(),
});
export type CapabilityDescriptor = z.infer<typeof CapabilityDescriptor>;

/**
 * Who an agent is (seed 1, Agent_Card); says all that an ACP descriptor says.
 *
 * - `version`           semantic version of the agent.
 * - `protocols`         such as `a2a/1.0`.
 * - `revision`          0 at first, +1 each time the card is registered again.
 * - `origin`            `remote` when the card came from another node.
 * - `lastSeenAt`        Unix milliseconds.
 * - `defaultCapability` the capability for messages that name none.
 * - `resources`, `resourceTemplates`, `prompts` that it offers to whoever speaks MCP.
 * - `taint`             where its text came from outside. Whoever reads its names, descriptions and schemas has that taint.
 */
export const AgentCard = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  version: SemanticVersion,
  description: z.string(),
  tier: AgentTier,
  protocols: z.array(z.string()),
  endpoints: z.array(AgentEndpoint),
  capabilities: z.array(CapabilityDescriptor),
  defaultCapability: z.string().min(1).optional(),
  resources: z.array(ResourceDescriptor).optional(),
  resourceTemplates: z.array(ResourceTemplateDescriptor).optional(),
  prompts: z.array(PromptDescriptor).optional(),
  revision: z.int().nonnegative(),
  sandboxId: z.string().optional(),
  origin: z.enum(['local', 'remote']),
  lastSeenAt: z.number(),
  author: z.string().optional(),
  icon: z.string().optional(),
  website: z.string().optional(),
  taint: Taint.optional(),
});
export type AgentCard = z.infer<typeof AgentCard>;

/** Parses a card. Throws INVALID_CARD naming every field that is missing or wrong. */
export function parseAgentCard(value: unknown): AgentCard {
  const parsed = AgentCard.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidCard(faultsOf(parsed.error, value));
}
