import { z } from 'zod';
import { ERROR_CODES } from './errors.ts';

/** One recipient that an envelope did not reach, and why. */
export const Refusal = z.object({
  agentId: z.string(),
  code: z.enum(ERROR_CODES),
  reason: z.string(),
  retryAfterMs: z.number().optional(),
});
export type Refusal = z.infer<typeof Refusal>;

/**
 * The result of a send (seed 1).
 *
 * - `delivered`     accepted by the mailbox of every permitted recipient.
 * - `path`          `remote` to an agent whose card came from another node.
 * - `targetAgentId` the agent that a capability was resolved to, the named agent, or `*`.
 * - `latencyMs`     time spent on routing, where it was measured: always by `send`, now and then by `tell`.
 * - `error`         a sentence, with `errorCode` beside it and `retryAfterMs` when trying again later may help.
 * - `recipients`, `refused`  of a broadcast: who accepted it and who was out of reach.
 */
export const RoutingResult = z.object({
  delivered: z.boolean(),
  path: z.enum(['local', 'remote', 'broadcast']),
  targetAgentId: z.string(),
  latencyMs: z.number().optional(),
  error: z.string().optional(),
  errorCode: z.enum(ERROR_CODES).optional(),
  retryAfterMs: z.number().optional(),
  recipients: z.array(z.string()).optional(),
  refused: z.array(Refusal).optional(),
});
export type RoutingResult = z.infer<typeof RoutingResult>;
