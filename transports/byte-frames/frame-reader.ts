import type { Frame } from '../../runtime/protocol/transport.ts';
import { CREDIT_BYTES, FRAME_COST, HEADER_BYTES, KIND } from './byte-frame.ts';

/** A body that is not here whole has at least so much room, and at most twice what came of it. */
const LEAST_ROOM_BYTES = 256;

/** What a reader finds. `onCost` is called with what each piece costs of the window. */
export interface FrameReaderUser {
  onFrame(frame: Frame, bytes: number): void;
  onCredit(credit: number): void;
  onCost(cost: number): void;
}

/**
 * Finds frames in a stream of bytes, however these are cut. A length is checked before anything is allocated for it, and what
 * is kept of a frame is bounded by what came of it. After a fault it reads no more.
 */
export class FrameReader {
  readonly #maxFrameBytes: number;
  readonly #user: FrameReaderUser;
  readonly #text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #header = new Uint8Array(HEADER_BYTES);
  #headerBytes = 0;
  #length = 0;
  #kind = 0;
  #body = new Uint8Array(0);
  #bodyBytes = 0;
  #fault: string | undefined;

  constructor(maxFrameBytes: number, user: FrameReaderUser) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#user = user;
  }

  /** Whether a frame has begun and is not whole. */
  get isWithinFrame(): boolean {
    return this.#headerBytes > 0;
  }

  /** Bytes of memory that are kept for a frame which is not whole. */
  get keptBytes(): number {
    return this.#body.byteLength;
  }

  /** Reads on. Returns what is wrong with the stream, if anything is. */
  push(chunk: Uint8Array): string | undefined {
    let at = 0;
    while (at < chunk.byteLength && this.#fault === undefined) {
      at = this.#headerBytes < HEADER_BYTES ? this.#readHeader(chunk, at) : this.#readBody(chunk, at);
    }
    return this.#fault;
  }

  #readHeader(chunk: Uint8Array, from: number): number {
    let at = from;
    while (this.#headerBytes < HEADER_BYTES && at < chunk.byteLength)
      this.#header[this.#headerBytes++] = chunk[at++] as number;
    if (this.#headerBytes < HEADER_BYTES) return at;
    const [first = 0, second = 0, third = 0, fourth = 0, kind = 0] = this.#header;
    this.#length = first * 0x1000000 + second * 0x10000 + third * 0x100 + fourth;
    this.#kind = kind;
    this.#fault = this.#faultOfHeader();
    if (this.#fault !== undefined) return at;
    if (kind !== KIND.credit) this.#user.onCost(FRAME_COST);
    if (this.#length === 0) this.#finish(new Uint8Array(0));
    return at;
  }

  #faultOfHeader(): string | undefined {
    const [length, kind] = [this.#length, this.#kind];
    if (kind === KIND.credit)
      return length === CREDIT_BYTES ? undefined : `a credit of ${length} bytes instead of ${CREDIT_BYTES}`;
    if (kind !== KIND.text && kind !== KIND.bytes) return `a frame of the unknown kind ${kind}`;
    if (length > this.#maxFrameBytes) return `a frame of ${length} bytes, at most ${this.#maxFrameBytes}`;
    return undefined;
  }

  #readBody(chunk: Uint8Array, from: number): number {
    const part = chunk.subarray(from, from + this.#length - this.#bodyBytes);
    if (this.#kind !== KIND.credit) this.#user.onCost(part.byteLength);
    if (part.byteLength === this.#length) this.#finish(part);
    else this.#keep(part);
    return from + part.byteLength;
  }

  #keep(part: Uint8Array): void {
    const needed = this.#bodyBytes + part.byteLength;
    if (needed > this.#body.byteLength) {
      const grown = new Uint8Array(Math.min(this.#length, Math.max(LEAST_ROOM_BYTES, 2 * needed)));
      grown.set(this.#body.subarray(0, this.#bodyBytes));
      this.#body = grown;
    }
    this.#body.set(part, this.#bodyBytes);
    this.#bodyBytes = needed;
    if (needed === this.#length) this.#finish(this.#body.subarray(0, needed));
  }

  #finish(body: Uint8Array): void {
    this.#headerBytes = 0;
    this.#bodyBytes = 0;
    this.#body = new Uint8Array(0);
    if (this.#kind === KIND.credit) {
      this.#user.onCredit(new DataView(body.buffer, body.byteOffset).getUint32(0));
      return;
    }
    const frame = this.#kind === KIND.bytes ? new Uint8Array(body) : this.#textOf(body);
    if (frame !== undefined) this.#user.onFrame(frame, body.byteLength);
  }

  #textOf(body: Uint8Array): string | undefined {
    try {
      return this.#text.decode(body);
    } catch {
      this.#fault = 'a text that is no UTF-8';
      return undefined;
    }
  }
}
