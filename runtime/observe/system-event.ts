import type { ErrorCode } from '../protocol/errors.ts';
import type { ChannelStatus } from '../protocol/channel-status.ts';
import type { A2AMessageType } from '../protocol/envelope.ts';
import type { Taint } from '../protocol/taint.ts';
import type { AgentTier } from '../protocol/agent-card.ts';

/** How an accepted envelope ended. */
export type Outcome = 'handled' | 'rejected' | 'expired' | 'dead-lettered';

/** What the event is about. The first five are the seed's own (`A2ALogEvent`). */
export type SystemEventType =
  | 'message-sent'
  | 'message-received'
  | 'routing-decision'
  | 'tool-invocation'
  | 'model-call'
  | 'error'
  | 'envelope-settled'
  | 'dead-letter'
  | 'progress'
  | 'agent-started'
  | 'agent-crashed'
  | 'agent-restarting'
  | 'agent-failed'
  | 'agent-stopped'
  | 'agent-upgraded'
  | 'agent-parked'
  | 'outsider-refused'
  | 'place-started'
  | 'place-died'
  | 'process-ended'
  | 'journal'
  | 'history'
  | 'router-state'
  | 'negotiation'
  | 'swarm'
  | 'channel-status'
  | 'server-log'
  | 'watchdog'
  | 'declared-clean'
  | 'catalogue'
  | 'fault';

/**
 * One thing that happened in the system, as `inspect()` streams it and `--record` writes it, a line each.
 *
 * - `timestamp`    Unix milliseconds.
 * - `place`        the thread it happened in: `host`, `control`, `worker-1`, ...
 * - `security`     a policy refused something, or an audited boundary was crossed.
 * - `duration`     milliseconds, of a handling or a tool call.
 * - `channelId`, `channelStatus` of a channel: `agentId` is at this end of it, `targetAgentId` at the other.
 * - `proposalId`  of a negotiation.
 * - `model`, `tokens`, `costUsd` of a call of a model: its name, and what was spent on it.
 * - `taint`       where what it is about came from outside.
 * - `errorId`     by which a caller was told of an error, and of nothing else of it.
 * - `stack`       of what was thrown, with file and line: of an agent that died, a start or a module that failed.
 */
export interface SystemEvent {
  readonly type: SystemEventType;
  readonly timestamp: number;
  readonly place?: string;
  readonly agentId?: string;
  readonly envelopeId?: string;
  readonly sender?: string;
  readonly recipient?: string;
  readonly messageType?: A2AMessageType;
  readonly correlationId?: string;
  readonly capability?: string;
  readonly routingPath?: 'local' | 'remote' | 'broadcast';
  readonly targetAgentId?: string;
  readonly sourceTier?: AgentTier;
  readonly targetTier?: AgentTier;
  readonly latencyMs?: number;
  readonly toolName?: string;
  readonly duration?: number;
  readonly success?: boolean;
  readonly outcome?: Outcome;
  readonly errorCode?: ErrorCode;
  readonly errorId?: string;
  readonly security?: boolean;
  readonly reason?: string;
  readonly fraction?: number;
  readonly attempt?: number;
  readonly channelId?: string;
  readonly channelStatus?: ChannelStatus;
  readonly proposalId?: string;
  readonly model?: string;
  readonly tokens?: number;
  readonly costUsd?: number;
  readonly taint?: Taint;
  readonly stack?: string;
}
