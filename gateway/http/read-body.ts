import type { Readable } from 'node:stream';
import { bodyTooLarge } from '../../runtime/protocol/edge-errors.ts';
import { invalidOptions, isOrreryError } from '../../runtime/protocol/errors.ts';
import type { EdgeCall } from './edge-call.ts';

/** A request whose body has not been read; without one where the bytes come from elsewhere. */
export interface ReadableCall extends Pick<EdgeCall, 'headers'> {
  readonly body?: ReadableStream<Uint8Array> | null;
}

export interface ReadBodyOptions {
  readonly maxBytes: number;
  /** Where the bytes come from, for whoever has them from Node. @default the request's own body */
  readonly source?: Readable | undefined;
  /** Hears of every chunk, before it is kept; what it throws ends the reading. */
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
      // What nobody takes would hold up the requests that follow on its connection.
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
