import { z } from 'zod';
import { AgentTier } from './agent-card.ts';
import { Budget } from './budget.ts';
import { ChannelStatus } from './channel-status.ts';
import { A2AMessageType } from './envelope.ts';
import { ERROR_CODES } from './errors.ts';
import { Taint } from './taint.ts';
import { KIND_OF_TYPE } from './event-types.ts';

/** How an accepted envelope ended. */
export const Outcome = z.enum(['handled', 'rejected', 'expired', 'dead-lettered']);
export type Outcome = z.infer<typeof Outcome>;

/** The next delayed event of a machine, and when it comes: Unix milliseconds. */
export const NextTimer = z.object({ event: z.string(), atMs: z.number() }).readonly();
export type NextTimer = z.infer<typeof NextTimer>;

/** What an operator wants to know of a machine, by names such as `capability` and `leaseUntilMs`; nothing of payloads. */
export const MachineFacts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).readonly();
export type MachineFacts = z.infer<typeof MachineFacts>;

/** The types of events. */
export const SystemEventType = z.enum(Object.keys(KIND_OF_TYPE) as readonly (keyof typeof KIND_OF_TYPE)[]);
export type SystemEventType = z.infer<typeof SystemEventType>;

/**
 * Something that happened in the system. `inspect()` streams these events; `--record` writes each as a line.
 *
 * - `timestamp`    Unix milliseconds.
 * - `place`        the thread in which it happened: `host`, `control`, `worker-1`, ...
 * - `security`     a policy refused something, or an audited boundary was crossed.
 * - `deadlineAtMs`, `budget` of what is sent: until when it is waited for, Unix milliseconds, and what may be spent on it.
 * - `duration`     milliseconds, of a handling or a tool call.
 * - `channelId`, `channelStatus` of a channel: `agentId` is at this end of it, `targetAgentId` at the other.
 * - `proposalId`  of a negotiation.
 * - `model`, `tokens`, `costUsd` of a call of a model: its name, and what was spent on it.
 * - `taint`       the sources outside from which its content came.
 * - `errorId`     the id of an error, which is all that the caller was told of it.
 * - `stack`       of what was thrown, with file and line, when an agent died, or a start or a module failed.
 * - `machine`, `actorId`, `event`, `from`, `to`, `failedGuards`, `nextTimer` of a step of a state machine: which definition,
 *   which one of these, what it took, and from which state it went to which.
 * - `facts`       of that machine, or of a mission's step.
 * - `count`       of events that were left out.
 * - `mission`, `task`, `step`, `gate` of a mission's loop.
 * - `node`        where it happened, when that is another node than the one that shows it.
 */
export const SystemEvent = z
  .object({
    type: SystemEventType,
    timestamp: z.number(),
    place: z.string().exactOptional(),
    agentId: z.string().exactOptional(),
    envelopeId: z.string().exactOptional(),
    sender: z.string().exactOptional(),
    recipient: z.string().exactOptional(),
    messageType: A2AMessageType.exactOptional(),
    correlationId: z.string().exactOptional(),
    capability: z.string().exactOptional(),
    routingPath: z.enum(['local', 'remote', 'broadcast']).exactOptional(),
    targetAgentId: z.string().exactOptional(),
    sourceTier: AgentTier.exactOptional(),
    targetTier: AgentTier.exactOptional(),
    deadlineAtMs: z.number().exactOptional(),
    budget: Budget.exactOptional(),
    latencyMs: z.number().exactOptional(),
    toolName: z.string().exactOptional(),
    duration: z.number().exactOptional(),
    success: z.boolean().exactOptional(),
    outcome: Outcome.exactOptional(),
    errorCode: z.enum(ERROR_CODES).exactOptional(),
    errorId: z.string().exactOptional(),
    security: z.boolean().exactOptional(),
    reason: z.string().exactOptional(),
    fraction: z.number().exactOptional(),
    attempt: z.number().exactOptional(),
    channelId: z.string().exactOptional(),
    channelStatus: ChannelStatus.exactOptional(),
    proposalId: z.string().exactOptional(),
    model: z.string().exactOptional(),
    tokens: z.number().exactOptional(),
    costUsd: z.number().exactOptional(),
    taint: Taint.exactOptional(),
    stack: z.string().exactOptional(),
    machine: z.string().exactOptional(),
    actorId: z.string().exactOptional(),
    event: z.string().exactOptional(),
    from: z.string().exactOptional(),
    to: z.string().exactOptional(),
    failedGuards: z.array(z.string()).readonly().exactOptional(),
    nextTimer: NextTimer.exactOptional(),
    facts: MachineFacts.exactOptional(),
    count: z.int().nonnegative().exactOptional(),
    mission: z.string().exactOptional(),
    task: z.string().exactOptional(),
    step: z.string().exactOptional(),
    gate: z.string().exactOptional(),
    node: z.string().exactOptional(),
  })
  .readonly();
export type SystemEvent = z.infer<typeof SystemEvent>;
