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
