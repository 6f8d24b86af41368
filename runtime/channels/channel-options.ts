import { z } from 'zod';
import { BackOff } from '../protocol/back-off.ts';

const milliseconds = z.number().positive();

/**
 * How a channel waits, tries again and bounds what it keeps. Both ends may differ; the narrower window and frame count.
 *
 * - `openTimeoutMs`      from the request until both have acknowledged; then closed.
 * - `handshakeTimeoutMs` the first attempt to connect, each further one twice as long up to eight times this, as a hole through a
 *                        NAT or a busy machine takes its time; and the wait for the answer to a hello.
 * - `reconnectTimeoutMs` from the loss of a connection until the channel is open again; then closed.
 * - `redial`             the waits between attempts to connect; the first is at once.
 * - `retryDelayMs`       how long the oldest unacknowledged envelope may stay so before it is sent again; each further
 *                        wait is at least twice the one before.
 * - `maxRetries`         how often it is sent again, at most 3.
 * - `heartbeatMs`        so long after it last heard something, an end asks whether the other one is there.
 * - `silenceTimeoutMs`   so long after, it takes the connection for dead; longer than `heartbeatMs`.
 * - `windowSize`         envelopes that are on their way, sent and not acknowledged; as many may wait for a gap to close.
 * - `waitingCapacity`    envelopes that wait for room in the window; more are refused MAILBOX_FULL.
 * - `maxFrameBytes`      the largest frame that is taken; a connection that brings a larger one is ended.
 * - `reorderBytes`       bytes of envelopes that wait for a gap to close, or for a handler.
 * - `highWaterBytes`     with so much in a connection's buffer nothing more is put into it.
 * - `maxBadFrames`       so many frames that make no sense end their connection.
 */
export const ChannelOptions = z
  .strictObject({
    openTimeoutMs: milliseconds.default(30_000),
    handshakeTimeoutMs: milliseconds.default(5_000),
    reconnectTimeoutMs: milliseconds.default(30_000),
    redial: BackOff.prefault({ firstMs: 100, maxMs: 5_000 }),
    retryDelayMs: milliseconds.default(500),
    maxRetries: z.int().min(0).max(3).default(3),
    heartbeatMs: milliseconds.default(5_000),
    silenceTimeoutMs: milliseconds.default(15_000),
    windowSize: z.int().min(1).max(65_536).default(256),
    waitingCapacity: z.int().nonnegative().default(1_024),
    maxFrameBytes: z.int().min(1_024).default(1_048_576),
    reorderBytes: z.int().nonnegative().default(4_194_304),
    highWaterBytes: z.int().positive().default(1_048_576),
    maxBadFrames: z.int().positive().default(16),
  })
  .refine(({ heartbeatMs, silenceTimeoutMs }) => silenceTimeoutMs > heartbeatMs, {
    path: ['silenceTimeoutMs'],
    message: 'more than heartbeatMs',
  });
export type ChannelOptions = z.input<typeof ChannelOptions>;
export type ChannelSettings = z.output<typeof ChannelOptions>;
