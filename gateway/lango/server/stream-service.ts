import { isOrreryError, reasonOf, refused } from '../../../runtime/protocol/errors.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import {
  type ByteChunk,
  type ByteStream,
  inTime,
  type LangoPeer,
  sendAndClose,
} from '../wire/byte-stream.ts';
import { otherEnd, readDocument } from '../wire/read-document.ts';

/**
 * - `maxBytes`          of a document that comes in.
 * - `readMs`            for a whole document to come in, however slowly its bytes do.
 * - `answerMs`          for the answer to be made.
 * - `sendMs`            for the answer to be taken, and the stream to be ended by the other side.
 * - `maxStreamsPerPeer` at once; any more are reset.
 * - `maxStreams`        of all peers at once.
 */
export interface StreamLimits {
  readonly maxBytes: number;
  readonly readMs: number;
  readonly answerMs: number;
  readonly sendMs: number;
  readonly maxStreamsPerPeer: number;
  readonly maxStreams: number;
}

/** What came over a stream: a document, or why it is none. */
export type Served = { readonly text: string } | { readonly fault: string };

/** Makes the bytes of an answer. `signal` says that nobody waits for it any more. */
export type AnswerDocument = (document: Served, signal: AbortSignal) => Promise<Uint8Array>;

/** Serves streams of one document each way, within limits of size, time and number. */
export class StreamService {
  readonly #limits: StreamLimits;
  readonly #clock: Pick<Clock, 'setTimer'>;
  /** What ends each stream that is served, by the DID of its peer. */
  readonly #open = new Map<string, Set<AbortController>>();
  #all = 0;
  #isClosing = false;
  #onIdle: (() => void) | undefined;

  constructor(limits: StreamLimits, clock: Pick<Clock, 'setTimer'>) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** How many streams are served now. */
  get open(): number {
    return this.#all;
  }

  /** Serves one stream. Never rejects: what goes wrong resets the stream. */
  async serve(stream: ByteStream, peer: LangoPeer, answer: AnswerDocument): Promise<void> {
    const { maxStreams, maxStreamsPerPeer } = this.#limits;
    const ofPeer = this.#open.get(peer.did) ?? new Set();
    if (this.#isClosing || ofPeer.size >= maxStreamsPerPeer || this.#all >= maxStreams) {
      stream.abort(refused(this.#isClosing ? 'It is closed' : 'There are too many streams'));
      return;
    }
    const left = new AbortController();
    this.#open.set(peer.did, ofPeer.add(left));
    this.#all += 1;
    try {
      await this.#served(stream, left, answer);
    } catch (error) {
      stream.abort(error instanceof Error ? error : new Error(reasonOf(error)));
    } finally {
      left.abort();
      this.#leave(peer.did, left);
    }
  }

  /** Resets all streams of a peer, and ends what is done for them. */
  cut(peerDid: string): void {
    for (const left of this.#open.get(peerDid) ?? []) left.abort();
  }

  /** Takes no more streams; those that are open have `drainMs` to come to their end. */
  async close({ drainMs }: { readonly drainMs: number }): Promise<void> {
    this.#isClosing = true;
    if (this.#all === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    const stopTimer = this.#clock.setTimer(drainMs, () => {
      for (const peerDid of [...this.#open.keys()]) this.cut(peerDid);
    });
    await idle;
    stopTimer();
  }

  async #served(stream: ByteStream, left: AbortController, answer: AnswerDocument): Promise<void> {
    const { readMs, answerMs, sendMs } = this.#limits;
    const { signal } = left;
    const chunks = stream[Symbol.asyncIterator]();
    const document = await inTime(this.#clock, { what: 'A document', ms: readMs, signal }, (ended) =>
      this.#read(chunks, ended),
    );
    const ended = otherEnd(chunks, signal);
    // A peer that resets its stream wants no answer; one that only ends its direction does.
    ended.catch(() => left.abort());
    const bytes = await inTime(this.#clock, { what: 'An answer', ms: answerMs, signal }, (isOver) =>
      answer(document, isOver),
    );
    await inTime(this.#clock, { what: 'The other side', ms: sendMs, signal }, async (isOver) => {
      await sendAndClose(stream, bytes, isOver);
      await ended;
    });
  }

  async #read(chunks: AsyncIterator<ByteChunk>, signal: AbortSignal): Promise<Served> {
    try {
      return { text: await readDocument(chunks, { maxBytes: this.#limits.maxBytes, signal }) };
    } catch (error) {
      if (isOrreryError(error) && error.code === 'REFUSED') return { fault: error.message };
      throw error;
    }
  }

  #leave(peerDid: string, left: AbortController): void {
    const ofPeer = this.#open.get(peerDid);
    ofPeer?.delete(left);
    if (ofPeer?.size === 0) this.#open.delete(peerDid);
    this.#all -= 1;
    if (this.#all === 0) this.#onIdle?.();
  }
}
