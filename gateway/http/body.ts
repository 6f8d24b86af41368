import { type JsonRead, readJson } from './json-text.ts';
import type { LargeBody } from './large-bodies.ts';
import type { Readable } from 'node:stream';
import { bodyTooLarge } from '../../runtime/protocol/edge-errors.ts';
import { invalidOptions, isOrreryError } from '../../runtime/protocol/errors.ts';
import type { EdgeCall } from './edge-call.ts';

/** Work on a longer body is done in turns, between which other requests are served. */
export const LONG_BYTES = 65_536;

/** The body of a request, which is here whole. */
export interface Body {
  /** How many bytes it has. */
  readonly length: number;
  /** The bytes as they came. */
  readonly bytes: Uint8Array;
  /**
   * What it says. Rejects with BODY_TOO_LARGE for too many members, with THREAD_DIED when it cannot be read, and as `turn`
   * does.
   */
  json(): Promise<JsonRead>;
  /**
   * Yields between two steps of work on the body: resolves when other requests have had a turn. Undefined for a short body.
   * Rejects with SYSTEM_STOPPED when the caller has gone.
   */
  turn(): Promise<void> | undefined;
}

/**
 * - `large`   it is read in another thread.
 * - `counted` counts what is refused.
 * - `turn`    resolves when it is this body's turn, for the first time or again.
 */
export interface ReceivedBodyDeps {
  readonly large: LargeBody | undefined;
  readonly counted: (read: Promise<JsonRead>) => Promise<JsonRead>;
  readonly turn: (nth: 'first' | 'again') => Promise<void>;
}

/** A body in chunks, which are joined when they are asked for. */
export class ReceivedBody implements Body {
  readonly length: number;
  readonly #deps: ReceivedBodyDeps;
  #chunks: readonly Uint8Array[];
  #isBegun: boolean;

  constructor(chunks: readonly Uint8Array[], deps: ReceivedBodyDeps) {
    this.length = chunks.reduce((sum, { length }) => sum + length, 0);
    this.#chunks = chunks;
    this.#deps = deps;
    this.#isBegun = deps.large !== undefined;
  }

  get bytes(): Uint8Array {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] as Uint8Array;
  }

  async json(): Promise<JsonRead> {
    const { large, counted } = this.#deps;
    if (large === undefined) await this.turn();
    const read = large === undefined ? readJson(this.bytes) : await counted(large.json());
    await this.turn();
    return read;
  }

  turn(): Promise<void> | undefined {
    if (this.length <= LONG_BYTES) return undefined;
    const nth = this.#isBegun ? 'again' : 'first';
    this.#isBegun = true;
    return this.#deps.turn(nth);
  }
}

/** A body that came in one piece, and is parsed at once. */
export class ShortBody implements Body {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get length(): number {
    return this.bytes.length;
  }

  async json(): Promise<JsonRead> {
    return readJson(this.bytes);
  }

  turn(): undefined {
    return undefined;
  }
}

/** A request whose body has not been read. */
interface ReadableCall extends Pick<EdgeCall, 'headers'> {
  readonly body?: ReadableStream<Uint8Array> | null;
}

interface ReadBodyOptions {
  readonly maxBytes: number;
  /** A stream of Node's that has the bytes. @default the request's own body */
  readonly source?: Readable | undefined;
  /** Called with every chunk before it is stored. If it throws, reading ends. */
  readonly onBytes?: (chunk: Uint8Array) => void;
}

/**
 * The bytes of a request's body, as they came, counted while they come: what `Content-Length` says is a promise, not a fact.
 *
 * Rejects with BODY_TOO_LARGE, and with INVALID_OPTIONS when they are fewer or more than was said, or are cut off.
 */
export async function readBody(
  call: ReadableCall,
  { maxBytes, source, onBytes }: ReadBodyOptions,
): Promise<readonly Uint8Array[]> {
  const declared = declaredLength(call.headers);
  if (declared !== undefined && declared > maxBytes) throw bodyTooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let length = 0;
  const take = (chunk: Uint8Array): void => {
    length += chunk.length;
    if (length > maxBytes) throw bodyTooLarge(maxBytes);
    onBytes?.(chunk);
    chunks.push(chunk);
  };
  try {
    if (source === undefined) await drain(call.body ?? null, take);
    else await takeAll(source, take);
  } catch (error) {
    throw isOrreryError(error) ? error : cutOff(length, declared);
  }
  if (declared !== undefined && declared !== length) throw cutOff(length, declared);
  return chunks;
}

/** Undefined when nothing is said. Throws INVALID_OPTIONS for what is no number of bytes. */
function declaredLength(headers: EdgeCall['headers']): number | undefined {
  const text = headers.get('content-length');
  if (text === null) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw invalidOptions('Content-Length', text, 'a number of bytes');
  return Number(text);
}

const cutOff = (length: number, declared: number | undefined) =>
  invalidOptions(
    'body',
    `${length} bytes`,
    declared === undefined ? 'a body that is not cut off' : `the ${declared} bytes of Content-Length`,
  );

/** Takes chunk by chunk until the end; rejects when it breaks off, and with what `take` throws. */
function takeAll(source: Readable, take: (chunk: Uint8Array) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (source.readableEnded) return resolve();
    const settle = (error?: unknown): void => {
      source.off('data', onData).off('end', onEnd).off('error', settle).off('close', onClose).pause();
      if (error === undefined) return resolve();
      // An unread body would hold up the next requests on its connection.
      source.resume();
      reject(error);
    };
    const onData = (chunk: Uint8Array): void => {
      try {
        take(chunk);
      } catch (error) {
        settle(error);
      }
    };
    const onEnd = (): void => settle();
    const onClose = (): void => settle(new Error('The connection is closed'));
    if (source.destroyed) return onClose();
    source.on('data', onData).on('end', onEnd).on('error', settle).on('close', onClose);
  });
}

async function drain(
  body: ReadableStream<Uint8Array> | null,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) take(read.value);
  } catch (error) {
    // Whoever sends on for ever is not waited for.
    reader.cancel(error).catch(() => undefined);
    throw error;
  }
}
