import { bodyTooLarge } from '../../../runtime/protocol/edge-errors.ts';
import { refused } from '../../../runtime/protocol/errors.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { type ByteChunk, type ByteStream, inTime } from './byte-stream.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d]);
const BRACE = 0x7b;
/** Deeper than any real message, and far from what the stack has room for. */
const MAX_DEPTH = 100;
const FIRST_ROOM = 1_024;
/** What may come after a document: its newline, and some more blanks. */
const MOST_AFTER = 1_024;
const END_MS = 1_000;

/** Finds the end of one JSON object by its brackets, looking at each byte once. */
class DocumentEnd {
  #depth = 0;
  #isText = false;
  #isEscaped = false;

  /** How many of the bytes belong to the document, if it ends in them. Throws REFUSED for what is no object. */
  of(bytes: Uint8Array): number | undefined {
    for (let at = 0; at < bytes.length; at++) if (this.#endsWith(bytes[at] as number)) return at + 1;
    return undefined;
  }

  #endsWith(byte: number): boolean {
    if (this.#isText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isText = false;
      return false;
    }
    if (this.#depth === 0 && byte !== BRACE) {
      if (BLANK.has(byte)) return false;
      throw refused('It is no JSON object');
    }
    if (byte === QUOTE) this.#isText = true;
    else if (OPENING.has(byte)) {
      this.#depth += 1;
      if (this.#depth > MAX_DEPTH) throw refused(`It is nested deeper than ${MAX_DEPTH} levels`);
    } else if (CLOSING.has(byte)) this.#depth -= 1;
    return this.#depth === 0;
  }
}

/**
 * The text of one JSON object, as soon as its last bracket is there: the other side need not end the stream. It holds at most
 * twice `maxBytes`.
 *
 * Rejects with BODY_TOO_LARGE, with REFUSED for what is no object of JSON in UTF-8, and with what the stream fails with.
 */
export async function readDocument(
  chunks: AsyncIterator<ByteChunk>,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<string> {
  const end = new DocumentEnd();
  let held = new Uint8Array(Math.min(FIRST_ROOM, maxBytes));
  let length = 0;
  for (;;) {
    signal.throwIfAborted();
    const { done, value } = await chunks.next();
    if (done === true) throw refused('The stream ended before the document did');
    const bytes = value.subarray();
    const isOver = length + bytes.length > maxBytes;
    const taken = isOver ? bytes.subarray(0, maxBytes - length) : bytes;
    const used = end.of(taken);
    if (used === undefined && isOver) throw bodyTooLarge(maxBytes);
    if (length + taken.length > held.length) held = grown(held, length + taken.length, maxBytes);
    held.set(taken, length);
    length += used ?? taken.length;
    if (used !== undefined) return textOf(held.subarray(0, length));
  }
}

/** Twice the room, or more if needed: many small chunks are kept in one piece. */
function grown(held: Uint8Array, atLeast: number, atMost: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(atMost, Math.max(2 * held.length, atLeast)));
  larger.set(held);
  return larger;
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused('It is no UTF-8');
  }
}

/**
 * Resolves when the other side has ended its direction after its document; rejects when it has reset the stream, or sends more
 * than a few blanks.
 */
export async function otherEnd(chunks: AsyncIterator<ByteChunk>, signal: AbortSignal): Promise<void> {
  for (let extra = 0; extra <= MOST_AFTER; ) {
    signal.throwIfAborted();
    const { done, value } = await chunks.next();
    if (done === true) return;
    extra += value.byteLength;
  }
  throw bodyTooLarge(MOST_AFTER);
}

/** Waits a second for the other side, which has sent its document, to end the stream; then resets it. Never rejects. */
export async function leave(
  stream: ByteStream,
  chunks: AsyncIterator<ByteChunk>,
  clock: Pick<Clock, 'setTimer'>,
): Promise<void> {
  const limit = { what: 'The end of the stream', ms: END_MS };
  await inTime(clock, limit, (signal) => otherEnd(chunks, signal)).catch((error: Error) =>
    stream.abort(error),
  );
}
