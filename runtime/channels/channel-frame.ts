import { z } from 'zod';
import { faultsOf } from '../protocol/payload-faults.ts';
import { ERROR_CODES } from '../protocol/errors.ts';
import type { Frame } from '../protocol/transport.ts';
import { SignedProof } from './channel-proof.ts';

/** The version of what the two ends of a channel say to each other; they must agree. */
export const CHANNEL_PROTOCOL_VERSION = 1;

/** What a frame adds to an envelope's JSON, at most: its own fields and the two numbers. Ids come on top. */
const FRAME_WORDS_BYTES = 128;

const channel = z.string().min(1);
const sequence = z.int().nonnegative();
const nonce = z.string().min(1).max(256);

/**
 * How an end introduces itself.
 *
 * - `received`      how many envelopes it has taken over this channel, and so where the other end goes on.
 * - `passedOver`    the last one of these that it did not deliver, because it was withdrawn.
 * - `windowSize`, `maxFrameBytes` what it takes at a time.
 */
const greeting = {
  version: z.int(),
  channel,
  from: z.string().min(1),
  to: z.string().min(1),
  received: sequence,
  passedOver: sequence.optional(),
  windowSize: z.int().positive(),
  maxFrameBytes: z.int().positive(),
};

/** `resumes` says that the channel was open before; `nonce` asks for a proof with the welcome. */
export const Hello = z.object({
  type: z.literal('hello'),
  resumes: z.boolean(),
  ...greeting,
  nonce: nonce.optional(),
});
export type Hello = z.infer<typeof Hello>;

export const Welcome = z.object({ type: z.literal('welcome'), ...greeting, proof: SignedProof.optional() });
export type Welcome = z.infer<typeof Welcome>;

/**
 * A frame of a channel, as JSON text; unknown fields are skipped.
 *
 * - `challenge` an answer to a hello: prove who you are, for this connection. `proof` answers it.
 * - `refuse`    the answer to a hello that is not accepted.
 * - `data`      one envelope; the first has the sequence 0. `deadlineMs` is what is left until its deadline.
 * - `ack`       as in a greeting. The first one answers the welcome.
 * - `withdraw`  the envelope was given up: pass it over, unless it was taken already. An `ack` says which.
 */
export const ChannelFrame = z.discriminatedUnion('type', [
  Hello,
  Welcome,
  z.object({ type: z.literal('challenge'), channel, nonce }),
  z.object({ type: z.literal('proof'), channel, proof: SignedProof }),
  z.object({ type: z.literal('refuse'), channel, code: z.enum(ERROR_CODES), reason: z.string() }),
  z.object({
    type: z.literal('data'),
    channel,
    sequence,
    deadlineMs: z.number().nonnegative().optional(),
    envelope: z.unknown(),
  }),
  z.object({ type: z.literal('ack'), channel, received: sequence, passedOver: sequence.optional() }),
  z.object({ type: z.literal('withdraw'), channel, sequence }),
  z.object({ type: z.literal('ping'), channel }),
  z.object({ type: z.literal('pong'), channel }),
  z.object({ type: z.literal('close'), channel }),
]);
export type ChannelFrame = z.infer<typeof ChannelFrame>;

export const frameText = (frame: Exclude<ChannelFrame, { type: 'data' }>): string => JSON.stringify(frame);

/** A `data` frame around an envelope that is JSON already. */
export function dataFrameText(
  channelId: string,
  at: number,
  envelopeJson: string,
  deadlineMs?: number,
): string {
  const left = deadlineMs === undefined ? '' : `"deadlineMs":${Math.max(0, Math.floor(deadlineMs))},`;
  return `{"type":"data","channel":${JSON.stringify(channelId)},"sequence":${at},${left}"envelope":${envelopeJson}}`;
}

/** The largest envelope, in bytes of JSON, that fits a frame of this channel. */
export const largestEnvelope = (channelId: string, maxFrameBytes: number): number =>
  maxFrameBytes - FRAME_WORDS_BYTES - Buffer.byteLength(JSON.stringify(channelId));

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a frame, or says what is wrong with it. */
export function readFrame(
  frame: Frame,
): ChannelFrame | { readonly type: 'malformed'; readonly reason: string } {
  let value: unknown;
  try {
    value = JSON.parse(typeof frame === 'string' ? frame : utf8.decode(frame));
  } catch (error) {
    return { type: 'malformed', reason: `not JSON: ${(error as Error).message}` };
  }
  const parsed = ChannelFrame.safeParse(value);
  return parsed.success ? parsed.data : { type: 'malformed', reason: faultsOf(parsed.error, value) };
}
