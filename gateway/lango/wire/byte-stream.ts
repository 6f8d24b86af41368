import type { Clock } from '../../../runtime/protocol/seams.ts';
import { cancelled, deadlineExceeded } from '../../../runtime/protocol/errors.ts';

/** Bytes as they arrive: a `Uint8Array`, or a list of them that can make one. */
export interface ByteChunk {
  readonly byteLength: number;
  subarray(): Uint8Array;
}

/**
 * One stream of bytes in both directions. A stream of libp2p 3 is one as it is.
 *
 * - `send`    takes all bytes; false when the other side should be waited for.
 * - `onDrain` resolves when there is room again.
 * - `close`   ends what is sent; the other side may go on sending.
 * - `abort`   ends both directions at once. Whoever iterates gets an error, or the end.
 */
export interface ByteStream extends AsyncIterable<ByteChunk> {
  send(bytes: Uint8Array): boolean;
  onDrain(options?: { readonly signal?: AbortSignal }): Promise<void>;
  close(): Promise<void>;
  abort(error: Error): void;
}

/** Who is at the other end of a stream, as the transport has proved it: its id there, and its DID. */
export interface LangoPeer {
  readonly id: string;
  readonly did: string;
}

/** Opens a stream to a peer for a protocol, as libp2p's `dialProtocol` does. */
export type OpenStream = (
  peerId: string,
  protocol: string,
  options: { readonly signal: AbortSignal },
) => Promise<ByteStream>;

const SEND_AT_ONCE = 65_536;

/** Sends all bytes as fast as the other side takes them, then ends that direction. */
export async function sendAndClose(
  stream: ByteStream,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  for (let from = 0; from < bytes.length; from += SEND_AT_ONCE) {
    signal.throwIfAborted();
    if (!stream.send(bytes.subarray(from, from + SEND_AT_ONCE))) await stream.onDrain({ signal });
  }
  await stream.close();
}

/** `ms` of time for `what`; `signal` ends it earlier. */
export interface TimeLimit {
  readonly what: string;
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * What `run` comes to in its time. Else rejects with DEADLINE_EXCEEDED, or CANCELLED, and its signal is aborted: what does not
 * listen to it is no longer waited for.
 */
export async function inTime<Value>(
  clock: Pick<Clock, 'setTimer'>,
  { what, ms, signal }: TimeLimit,
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const ended = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (error: Error): void => {
    reject(error);
    ended.abort(error);
  };
  const onAbort = (): void => end(cancelled(what));
  if (signal?.aborted) throw cancelled(what);
  const stopTimer = clock.setTimer(ms, () => end(deadlineExceeded(what, ms)));
  signal?.addEventListener('abort', onAbort);
  try {
    return await Promise.race([run(ended.signal), promise]);
  } finally {
    stopTimer();
    signal?.removeEventListener('abort', onAbort);
  }
}
