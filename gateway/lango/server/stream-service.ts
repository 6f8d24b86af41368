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
  readonly #open = new Map<string, number>();
  #all = 0;

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
    const ofPeer = this.#open.get(peer.id) ?? 0;
    if (ofPeer >= maxStreamsPerPeer || this.#all >= maxStreams) {
      stream.abort(refused('There are too many streams'));
      return;
    }
    this.#open.set(peer.id, ofPeer + 1);
    this.#all += 1;
    try {
      await this.#served(stream, answer);
    } catch (error) {
      stream.abort(error instanceof Error ? error : new Error(reasonOf(error)));
    } finally {
      this.#leave(peer.id);
    }
  }

  async #served(stream: ByteStream, answer: AnswerDocument): Promise<void> {
    const { readMs, answerMs, sendMs } = this.#limits;
    const chunks = stream[Symbol.asyncIterator]();
    const document = await inTime(this.#clock, { what: 'A document', ms: readMs }, (signal) =>
      this.#read(chunks, signal),
    );
    const left = new AbortController();
    const ended = otherEnd(chunks, left.signal);
    // A peer that resets its stream wants no answer; one that only ends its direction does.
    ended.catch(() => left.abort());
    try {
      const bytes = await inTime(
        this.#clock,
        { what: 'An answer', ms: answerMs, signal: left.signal },
        (signal) => answer(document, signal),
      );
      await inTime(
        this.#clock,
        { what: 'The other side', ms: sendMs, signal: left.signal },
        async (signal) => {
          await sendAndClose(stream, bytes, signal);
          await ended;
        },
      );
    } finally {
      left.abort();
    }
  }

  async #read(chunks: AsyncIterator<ByteChunk>, signal: AbortSignal): Promise<Served> {
    try {
      return { text: await readDocument(chunks, { maxBytes: this.#limits.maxBytes, signal }) };
    } catch (error) {
      if (isOrreryError(error) && error.code === 'REFUSED') return { fault: error.message };
      throw error;
    }
  }

  #leave(peerId: string): void {
    const ofPeer = (this.#open.get(peerId) ?? 1) - 1;
    if (ofPeer === 0) this.#open.delete(peerId);
    else this.#open.set(peerId, ofPeer);
    this.#all -= 1;
  }
}
