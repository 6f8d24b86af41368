import { z } from 'zod';
import { AgentTier } from './agent-card.ts';
import { ChannelStatus } from './channel-status.ts';
import { A2AMessageType } from './envelope.ts';
import { ERROR_CODES } from './errors.ts';

/**
 * One thing that a router, tool host or channel did (seed 1), with what the seed's own properties need beside it.
 *
 * - `routingPath`, `targetAgentId`, `latencyMs` of a routing decision: where it went and how long deciding took.
 * - `sourceTier`, `targetTier`                  of sender and recipient; absent for a system actor.
 * - `security`                                  a policy refused something, or a tier boundary was crossed.
 * - `duration`                                  milliseconds that a tool call took.
 * - `channelId`, `channelStatus`                which channel; of `channel-status`, what it is now. `agentId` is at this
 *                                               end of it, `targetAgentId` at the other.
 * - `timestamp`                                 Unix milliseconds.
 */
export const A2ALogEvent = z.object({
  type: z.enum([
    'message-sent',
    'message-received',
    'routing-decision',
    'tool-invocation',
    'error',
    'channel-status',
  ]),
  envelopeId: z.string().optional(),
  correlationId: z.string().optional(),
  sender: z.string().optional(),
  recipient: z.string().optional(),
  messageType: A2AMessageType.optional(),
  routingPath: z.enum(['local', 'remote', 'broadcast']).optional(),
  targetAgentId: z.string().optional(),
  latencyMs: z.number().optional(),
  sourceTier: AgentTier.optional(),
  targetTier: AgentTier.optional(),
  security: z.boolean().optional(),
  errorCode: z.enum(ERROR_CODES).optional(),
  reason: z.string().optional(),
  agentId: z.string().optional(),
  toolName: z.string().optional(),
  duration: z.number().optional(),
  success: z.boolean().optional(),
  channelId: z.string().optional(),
  channelStatus: ChannelStatus.optional(),
  timestamp: z.number(),
});
export type A2ALogEvent = z.infer<typeof A2ALogEvent>;
