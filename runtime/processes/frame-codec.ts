import { deserialize, serialize } from 'node:v8';

/** A frame: the length of its body (4 bytes, little endian), how the body is written (1 byte), the body. */
const HEAD_BYTES = 5;
const JSON_TEXT = 0;
const STRUCTURED = 1;

/** The largest body. An envelope or answer that is larger does not go to a process or come from it. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;

/** Writes a frame; `isStructured` when it holds what JSON cannot say. Throws what the writing of such a value throws. */
export function encodeFrame(frame: unknown, isStructured = false): Buffer {
  const body = isStructured ? serialize(frame) : Buffer.from(JSON.stringify(frame));
  if (!isStructured && isTooDeep(body)) throw new RangeError(`more than ${MAX_DEPTH} levels`);
  if (body.length > MAX_FRAME_BYTES)
    throw new RangeError(`${body.length} bytes, more than ${MAX_FRAME_BYTES}`);
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + body.length);
  bytes.writeUInt32LE(body.length, 0);
  bytes[4] = isStructured ? STRUCTURED : JSON_TEXT;
  body.copy(bytes, HEAD_BYTES);
  return bytes;
}

/** Finds the frames in a stream of bytes. Holds no more than one frame and what came with its last bytes. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #held = 0;
  /** Bytes that the next thing, a head or a whole frame, needs. */
  #needed = HEAD_BYTES;

  get heldBytes(): number {
    return this.#held;
  }

  add(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#held += bytes.length;
  }

  /** The next frame that is here as a whole, else undefined. Throws when the bytes are none: nothing after them is. */
  next(): { readonly frame: unknown } | undefined {
    if (this.#held < this.#needed) return undefined;
    const bytes = this.#joined();
    const length = bytes.readUInt32LE(0);
    if (length > MAX_FRAME_BYTES)
      throw new RangeError(`a frame of ${length} bytes, more than ${MAX_FRAME_BYTES}`);
    this.#needed = HEAD_BYTES + length;
    if (bytes.length < this.#needed) return undefined;
    const body = bytes.subarray(HEAD_BYTES, this.#needed);
    const frame = decodeBody(bytes[4] as number, body);
    this.#keep(bytes.subarray(this.#needed));
    return { frame };
  }

  #joined(): Buffer {
    const [first] = this.#chunks;
    if (this.#chunks.length === 1 && first !== undefined) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#held = rest.length;
    this.#needed = HEAD_BYTES;
  }
}

function decodeBody(how: number, body: Buffer): unknown {
  if (how === JSON_TEXT) {
    if (isTooDeep(body)) throw new RangeError(`a frame of more than ${MAX_DEPTH} levels`);
    return JSON.parse(body.toString()) as unknown;
  }
  if (how === STRUCTURED) return deserialize(body);
  throw new RangeError(`a frame of kind ${how}`);
}

/** Lists and objects begin and end with bytes that differ in one bit, and in no other byte that JSON has there. */
const CASE_BIT = 0x20;
const [QUOTE, BACKSLASH, OPEN, CLOSE] = [0x22, 0x5c, 0x5b, 0x5d];

/** How many levels of JSON are taken: those that take no time to be read and written. */
export const MAX_DEPTH = 1_000;

/**
 * Says whether JSON text nests deeper than that.
 *
 * Reading a megabyte of nothing but brackets takes as long as reading a hundred of anything else: whoever sends it would
 * have the other side stand still.
 */
export function isTooDeep(text: Uint8Array): boolean {
  // Each level takes two bytes.
  if (text.length <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number;
    if (isInString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if ((byte & ~CASE_BIT) === OPEN) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if ((byte & ~CASE_BIT) === CLOSE) depth -= 1;
  }
  return false;
}
