import type { NewSecret } from '../../../runtime/protocol/seams.ts';

/** That many random bytes, out of secrets. */
export function randomFrom(newSecret: NewSecret, bytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let length = 0; length < bytes; ) {
    const part = Buffer.from(newSecret(), 'base64url');
    parts.push(part);
    length += Math.max(1, part.length);
  }
  return Buffer.concat(parts, bytes);
}

/** A random UUID, version 4 (RFC 9562). */
export function uuidFrom(newSecret: NewSecret): string {
  const bytes = randomFrom(newSecret, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
