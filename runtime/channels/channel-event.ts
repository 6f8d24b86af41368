import type { ErrorCode } from '../protocol/errors.ts';
import type { TransportKind } from '../protocol/transport.ts';
import type { ChannelStatus } from '../protocol/channel-status.ts';

/** Why a frame, or a whole connection, was not used. */
export type FrameFault = 'malformed' | 'oversized' | 'forged' | 'unexpected' | 'overflow';

/** What a channel reports. Times are in milliseconds. */
export type ChannelEventBody =
  | {
      readonly type: 'channel-status';
      readonly from: ChannelStatus | undefined;
      readonly status: ChannelStatus;
      readonly reason?: string;
    }
  /** One more time sent after `delayMs` without an acknowledgement; `retry` counts from 1. */
  | {
      readonly type: 'delivery-retried';
      readonly envelopeId: string;
      readonly retry: number;
      readonly delayMs: number;
    }
  | {
      readonly type: 'delivery-failed';
      readonly errorCode: ErrorCode;
      readonly envelopeId: string;
      readonly reason: string;
    }
  | { readonly type: 'frame-skipped'; readonly fault: FrameFault; readonly reason: string }
  /** A message handler, or without an envelope one of `onChannel`. */
  | { readonly type: 'handler-failed'; readonly envelopeId?: string; readonly reason: string }
  /** A hello was not accepted; the channel is the one that it named. */
  | { readonly type: 'hello-refused'; readonly errorCode: ErrorCode; readonly reason: string };

/** The two agents of a channel as one end sees them. The id is the same at both ends. */
export interface ChannelIdentity {
  readonly channelId: string;
  readonly localAgentId: string;
  readonly remoteAgentId: string;
}

/** What happened to which channel, or to a connection that never said which. `timestamp` is Unix milliseconds. */
export type ChannelEvent = (
  | (ChannelEventBody & ChannelIdentity)
  | { readonly type: 'connection-refused'; readonly transport: TransportKind; readonly reason: string }
) & { readonly timestamp: number };

/** How many events of each type there were. */
export type ChannelCounts = Readonly<Record<ChannelEvent['type'], number>>;

/** An `A2ALogEvent` of a channel; events of a system have the same fields. */
export interface ChannelLogEvent {
  readonly type: 'channel-status' | 'error';
  readonly timestamp: number;
  readonly agentId?: string;
  readonly targetAgentId?: string;
  readonly channelId?: string;
  readonly channelStatus?: ChannelStatus;
  readonly envelopeId?: string;
  readonly errorCode?: ErrorCode;
  readonly reason?: string;
  readonly success?: boolean;
  readonly security?: boolean;
}

/**
 * A channel's event as an operator sees it among those of routers and tools; undefined for what is only counted. What
 * failed is an `error`; who was not let in, or spoke in another's name, is a matter of security.
 */
export function channelLogEvent(event: ChannelEvent): ChannelLogEvent | undefined {
  const { timestamp } = event;
  if (event.type === 'connection-refused') {
    const reason = `a connection was turned away: ${event.reason}`;
    return { type: 'error', timestamp, errorCode: 'REFUSED', reason, success: false, security: true };
  }
  const { channelId, localAgentId: agentId, remoteAgentId: targetAgentId } = event;
  const about = { timestamp, agentId, targetAgentId, channelId };
  switch (event.type) {
    case 'channel-status': {
      const { status: channelStatus, reason } = event;
      return { type: 'channel-status', ...about, channelStatus, ...(reason === undefined ? {} : { reason }) };
    }
    case 'delivery-retried':
      return undefined;
    case 'delivery-failed': {
      const { envelopeId, errorCode, reason } = event;
      return { type: 'error', ...about, envelopeId, errorCode, reason, success: false };
    }
    case 'handler-failed': {
      const { envelopeId, reason } = event;
      return { type: 'error', ...about, ...(envelopeId && { envelopeId }), reason, success: false };
    }
    case 'hello-refused': {
      const { errorCode, reason } = event;
      return { type: 'error', ...about, errorCode, reason, success: false, security: true };
    }
    case 'frame-skipped': {
      const reason = `a frame was skipped, ${event.fault}: ${event.reason}`;
      const security = event.fault === 'forged' ? { security: true } : {};
      return { type: 'error', ...about, reason, success: false, ...security };
    }
  }
}
