import { Fifo } from '../mailbox/fifo.ts';
import type { Mail } from '../mailbox/mail.ts';
import { type ErrorCode, isOrreryError, refused } from '../protocol/errors.ts';
import { REPLY } from '../mailbox/reply.ts';
import type { Handling } from './handling.ts';
import { type AskListeners, WaitingAsk } from './waiting-ask.ts';

/** Chunks that a stream's handler may be ahead of its reader. */
export const STREAM_WINDOW = 64;
const PULL_EVERY = STREAM_WINDOW / 2;
/** A slow reader lets the handler go on sooner, so that it does not look like one that has left. */
const PULL_AFTER_MS = 50;

export interface WaitingStreamDeps {
  readonly nowMs: () => number;
  /** `count` more chunks are read. */
  readonly onPull: (stream: WaitingAsk, count: number) => void;
  readonly listeners: AskListeners;
}

/** An ask that waits for a stream: chunks wait here until they are read, and what is read lets the handler go on. */
export class WaitingStream<Output> extends WaitingAsk {
  readonly #chunks = new Fifo<Output>();
  readonly #deps: WaitingStreamDeps;
  #isEnded = false;
  #error: Error | undefined;
  /** Chunks read since the handler was last told, and when that was. */
  #read = 0;
  #toldAtMs: number;
  #wake: (() => void) | undefined;

  constructor(asked: Mail, owner: Handling | undefined, deps: WaitingStreamDeps) {
    super(asked, owner, deps.listeners);
    this.#deps = deps;
    this.#toldAtMs = asked.timestamp;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** What ended it early, if that is known by a code. */
  get errorCode(): ErrorCode | undefined {
    return isOrreryError(this.#error) ? this.#error.code : undefined;
  }

  protected answered(kind: number, payload: unknown): boolean {
    if (kind === REPLY.chunk) this.#chunks.push(payload as Output);
    else if (kind === REPLY.value) this.#error = notAStream(this.agentId, this.asked);
    if (kind !== REPLY.chunk) this.#isEnded = true;
    this.#wake?.();
    return !this.#isEnded;
  }

  protected failed(error: Error): void {
    this.#error = error;
    this.#isEnded = true;
    this.#wake?.();
  }

  /** The next chunk; `done` after the last; throws what ended the stream early. */
  async next(): Promise<IteratorResult<Output, undefined>> {
    while (this.#chunks.length === 0 && !this.#isEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    if (this.#chunks.length > 0) {
      const value = this.#chunks.shift() as Output;
      this.#tellRead();
      return { value, done: false };
    }
    if (this.#error !== undefined) throw this.#error;
    return { value: undefined, done: true };
  }

  #tellRead(): void {
    this.#read += 1;
    const nowMs = this.#deps.nowMs();
    if (this.#read < PULL_EVERY && nowMs - this.#toldAtMs < PULL_AFTER_MS) return;
    if (!this.#isEnded) this.#deps.onPull(this, this.#read);
    this.#read = 0;
    this.#toldAtMs = nowMs;
  }
}

/** An agent that has no handler for the capability, but one for every envelope, answers with a value. */
const notAStream = (agentId: string, { capability }: Mail): Error =>
  refused(`${agentId} answers "${capability}" with one value: ask for it with ask()`, { capability });
