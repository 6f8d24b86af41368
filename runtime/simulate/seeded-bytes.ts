import type { Random } from '../protocol/seams.ts';

/** The bytes of what it is a view of. */
export const bytesOf = (view: NodeJS.ArrayBufferView | ArrayBufferLike): Uint8Array =>
  ArrayBuffer.isView(view)
    ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    : new Uint8Array(view);

export function fillRandom(bytes: Uint8Array, random: Random): void {
  for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(random() * 256);
}

/** A UUID of version 4; of version 7 where a time in Unix milliseconds is given (RFC 9562). */
export function uuidOf(random: Random, atMs?: number): string {
  const bytes = Buffer.alloc(16);
  fillRandom(bytes, random);
  if (atMs !== undefined) bytes.writeUIntBE(atMs, 0, 6);
  bytes[6] = ((bytes[6] as number) & 0x0f) | (atMs === undefined ? 0x40 : 0x70);
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
