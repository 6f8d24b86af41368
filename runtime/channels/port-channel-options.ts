import { z } from 'zod';
import { ChannelOptions } from './channel-options.ts';

const { openTimeoutMs, reconnectTimeoutMs, redial, windowSize, waitingCapacity } = ChannelOptions.shape;

/**
 * How one end of a channel between two agents of a system waits and bounds what it keeps; each field as in
 * `ChannelOptions`. Nothing is lost on the way, so there is nothing to be said of retries, heartbeat and frames.
 */
export const PortChannelOptions = z.strictObject({
  openTimeoutMs,
  reconnectTimeoutMs,
  redial,
  windowSize,
  waitingCapacity,
});
export type PortChannelOptions = z.input<typeof PortChannelOptions>;
export type PortChannelSettings = z.output<typeof PortChannelOptions>;

/** `justification` why a lower tier opens a channel to a higher one; it stands for all that is sent over it. */
export const OpenChannelOptions = PortChannelOptions.extend({ justification: z.string().optional() });
export type OpenChannelOptions = z.input<typeof OpenChannelOptions>;
