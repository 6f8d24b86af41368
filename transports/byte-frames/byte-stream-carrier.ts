import type { Frame } from '../../runtime/protocol/transport.ts';
import type { Carrier, CarrierUser } from '../carried-connection.ts';
import { encodeCredit, encodeFrame, FRAME_COST, HEADER_BYTES, WINDOW } from './byte-frame.ts';
import { FrameReader } from './frame-reader.ts';

/** Bytes are written in pieces of at most so many. */
const PIECE_BYTES = 61_440;
/** More is granted once so much was read. */
const GRANT_FROM = WINDOW / 4;

/** A stream of bytes between two ends, which reads all the time. */
export interface ByteStream {
  /** Takes the bytes; false when no more should come until `onDrain`. */
  write(bytes: Uint8Array): boolean;
  /** Nothing more is written; what was is still brought. */
  end(): void;
  destroy(): void;
}

/** What a stream tells its user. Nothing is told after `onOver`. */
export interface ByteStreamUser {
  /** The memory belongs to the stream. */
  onBytes(bytes: Uint8Array): void;
  onDrain(): void;
  /** The other end writes no more. */
  onEnd(): void;
  onOver(reason: string): void;
}

interface FrameUnderWay {
  readonly encoded: Buffer;
  readonly settle: () => void;
  at: number;
  isBegun: boolean;
}

/**
 * Frames over a stream of bytes, with a window in each direction: not every stream stops a writer whose reader takes nothing.
 * Frames that are sent in one turn of the event loop are written in one go.
 */
export class ByteStreamCarrier implements Carrier {
  readonly #stream: ByteStream;
  readonly #user: CarrierUser;
  readonly #reader: FrameReader;
  // Not written whole, oldest first, from `#head` on.
  #queue: FrameUnderWay[] = [];
  #head = 0;
  // Written whole, and not taken by the stream.
  #written: FrameUnderWay[] = [];
  #mayWrite = true;
  #credit = WINDOW;
  #ungranted = 0;
  #isPaused = false;
  #isFlushing = false;
  #isEnding = false;
  #hasEnded = false;
  #isOver = false;

  constructor(open: (user: ByteStreamUser) => ByteStream, maxFrameBytes: number, user: CarrierUser) {
    this.#user = user;
    this.#reader = new FrameReader(maxFrameBytes, {
      onFrame: (frame, bytes) => {
        if (!this.#isOver) user.arrive(frame, bytes);
      },
      onCredit: (credit) => this.#takeCredit(credit),
      onCost: (cost) => {
        this.#ungranted += cost;
      },
    });
    this.#stream = open({
      onBytes: (bytes) => this.#read(bytes),
      onDrain: () => {
        this.#mayWrite = true;
        this.#flush();
      },
      onEnd: () =>
        this.#endWith(
          this.#reader.isWithinFrame ? 'the other end ended within a frame' : 'the other end closed it',
        ),
      onOver: (reason) => this.#over(reason),
    });
  }

  send(frame: Frame, settle: () => void): void {
    this.#queue.push({ encoded: encodeFrame(frame), settle, at: 0, isBegun: false });
    this.#flushSoon();
  }

  /** Grants nothing more. What the other end sends within its window still comes. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#grant();
  }

  end(): void {
    this.#isEnding = true;
    this.#flushSoon();
  }

  destroy(): void {
    this.#fail('it was closed');
  }

  #read(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const fault = this.#reader.push(bytes);
    if (fault !== undefined) this.#fail(fault);
    else if (this.#ungranted > WINDOW) this.#fail('more bytes than its window');
    else this.#grant();
  }

  #grant(): void {
    if (this.#isPaused || this.#isOver || this.#ungranted < GRANT_FROM) return;
    this.#flushSoon();
  }

  #takeCredit(credit: number): void {
    this.#credit += credit;
    if (this.#credit > WINDOW) this.#fail('more credit than was used');
    else this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#isFlushing || this.#isOver) return;
    this.#isFlushing = true;
    process.nextTick(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#mayWrite && !this.#isOver) {
      const piece = this.#nextPiece();
      if (piece === undefined) break;
      this.#mayWrite = this.#stream.write(piece);
    }
    if (this.#isOver) return;
    if (this.#mayWrite) for (const { settle } of this.#written.splice(0)) settle();
    if (this.#isEnding && !this.#hasEnded && this.#mayWrite && this.#head === this.#queue.length) {
      this.#hasEnded = true;
      this.#stream.end();
    }
  }

  /** As much as one write, the window, and what there is allow. */
  #nextPiece(): Buffer | undefined {
    if (this.#hasEnded) return undefined;
    const parts: Buffer[] = [];
    let room = PIECE_BYTES;
    if (!this.#isPaused && this.#ungranted >= GRANT_FROM) {
      const grant = encodeCredit(this.#ungranted);
      this.#ungranted = 0;
      room -= grant.byteLength;
      parts.push(grant);
    }
    for (let next = this.#queue[this.#head]; next !== undefined && room > 0; next = this.#queue[this.#head]) {
      const part = this.#partOf(next, room);
      if (part.byteLength === 0) break;
      parts.push(part);
      room -= part.byteLength;
      if (next.at < next.encoded.byteLength) break;
      this.#written.push(next);
      this.#forget();
    }
    if (parts.length === 0) return undefined;
    return parts.length === 1 ? parts[0] : Buffer.concat(parts);
  }

  #partOf(frame: FrameUnderWay, room: number): Buffer {
    if (!frame.isBegun) {
      if (this.#credit < FRAME_COST) return frame.encoded.subarray(0, 0);
      this.#credit -= FRAME_COST;
      frame.isBegun = true;
    }
    const free = Math.max(0, HEADER_BYTES - frame.at);
    const part = frame.encoded.subarray(frame.at, frame.at + Math.min(room, free + this.#credit));
    this.#credit -= Math.max(0, part.byteLength - free);
    frame.at += part.byteLength;
    return part;
  }

  #forget(): void {
    this.#head += 1;
    if (this.#head < 1_024 || this.#head * 2 < this.#queue.length) return;
    this.#queue.splice(0, this.#head);
    this.#head = 0;
  }

  #fail(reason: string): void {
    this.#over(reason);
    this.#stream.destroy();
  }

  /** The other end has ended: nothing that is sent from here is read any more. */
  #endWith(reason: string): void {
    if (this.#isOver) return;
    this.#over(reason);
    this.#stream.end();
  }

  #over(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#queue = [];
    this.#head = 0;
    this.#written = [];
    this.#user.over(reason);
  }
}
