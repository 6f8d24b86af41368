import { storeInvalid } from '../../../runtime/protocol/errors.ts';
import { SHORT_DIMENSIONS } from './dot-products.ts';
import type { Vector } from './vector.ts';

/** What the bytes are laid out by, and how the short vector is made: stored ones of another version are made anew. */
const VERSION = 1;
const VERSION_AT = 0;
const DIMENSIONS_AT = 4;
const SCALE_AT = 8;
const HEADER_BYTES = 12;

/** A vector as it is stored: version, dimensions and scale of 32 bits each, little-endian, then `whole`, then `short`. */
export function vectorToBytes({ whole, scale, short }: Vector): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + whole.length + short.length);
  const header = new DataView(bytes.buffer);
  header.setUint32(VERSION_AT, VERSION, true);
  header.setUint32(DIMENSIONS_AT, whole.length, true);
  header.setFloat32(SCALE_AT, scale, true);
  bytes.set(new Uint8Array(whole.buffer, whole.byteOffset, whole.length), HEADER_BYTES);
  bytes.set(new Uint8Array(short.buffer, short.byteOffset, short.length), HEADER_BYTES + whole.length);
  return bytes;
}

/**
 * The vector that was stored, as views of the bytes. Throws STORE_INVALID for bytes that are none, or of another version.
 */
export function vectorFromBytes(bytes: Uint8Array): Vector {
  if (bytes.length < HEADER_BYTES) throw noVector(`has ${bytes.length} bytes, fewer than its header`);
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const version = header.getUint32(VERSION_AT, true);
  const dimensions = header.getUint32(DIMENSIONS_AT, true);
  const scale = header.getFloat32(SCALE_AT, true);
  if (version !== VERSION) throw noVector(`is of version ${version}, expected ${VERSION}`);
  const expected = HEADER_BYTES + dimensions + SHORT_DIMENSIONS;
  if (bytes.length !== expected)
    throw noVector(`has ${bytes.length} bytes, expected ${expected} for ${dimensions} dimensions`);
  if (!Number.isFinite(scale) || scale < 0)
    throw noVector(`has the scale ${scale}, expected a number from 0 on`);
  const numbersFrom = (at: number, count: number): Int8Array =>
    new Int8Array(bytes.buffer, bytes.byteOffset + at, count);
  return {
    whole: numbersFrom(HEADER_BYTES, dimensions),
    scale,
    short: numbersFrom(HEADER_BYTES + dimensions, SHORT_DIMENSIONS),
  };
}

const noVector = (what: string): Error => storeInvalid('memory_vectors', `a vector ${what}`);
