import type { ChannelStatus } from '../protocol/channel-status.ts';
import type { ErrorCode } from '../protocol/errors.ts';
import type { ChannelEvent } from './channel-event.ts';

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
