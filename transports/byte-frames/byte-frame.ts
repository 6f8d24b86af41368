import type { Frame } from '../../runtime/protocol/transport.ts';

/** What is spoken over a stream of bytes: libp2p negotiates it, and over Hyperswarm the first frame of each end names it. */
export const CHANNEL_PROTOCOL = '/orrery/channel/1.0.0';

/** Before each body: its length as a u32, the most significant byte first, and its kind as one byte. */
export const HEADER_BYTES = 5;

/** `credit` says in a u32 how much more the other end may send; it costs nothing itself. */
export const KIND = { text: 0, bytes: 1, credit: 2 } as const;

/** What each end may send before the other grants it more. */
export const WINDOW = 1_048_576;

/** What a text or bytes cost beside their length, so that no window is full of tiny frames. */
export const FRAME_COST = 64;

export const CREDIT_BYTES = 4;

/** A text or bytes as they cross, in memory of their own. */
export function encodeFrame(frame: Frame): Buffer {
  const bytes = typeof frame === 'string' ? Buffer.byteLength(frame) : frame.byteLength;
  const encoded = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  encoded.writeUInt32BE(bytes, 0);
  encoded[4] = typeof frame === 'string' ? KIND.text : KIND.bytes;
  if (typeof frame === 'string') encoded.write(frame, HEADER_BYTES, 'utf8');
  else encoded.set(frame, HEADER_BYTES);
  return encoded;
}

export function encodeCredit(credit: number): Buffer {
  const encoded = Buffer.allocUnsafe(HEADER_BYTES + CREDIT_BYTES);
  encoded.writeUInt32BE(CREDIT_BYTES, 0);
  encoded[4] = KIND.credit;
  encoded.writeUInt32BE(credit, HEADER_BYTES);
  return encoded;
}
