import { callOutside } from '../agent/call-outside.ts';
import type { AskOptions } from '../agent/context.ts';
import type { Link } from '../link/link.ts';
import { askGeneration, askName, askSlot, LAST_GENERATION, type Mail, REPLY } from '../mailbox/mail.ts';
import { Fifo } from '../mailbox/fifo.ts';
import {
  embedderError,
  type ErrorCode,
  type ErrorData,
  errorFromData,
  isOrreryError,
  OrreryError,
  refused,
} from '../protocol/errors.ts';
import { copyJson } from '../protocol/json.ts';
import { isSystemId } from '../protocol/policy.ts';
import type { Taint } from '../protocol/taint.ts';
import type { Span } from '../protocol/tracer.ts';
import { absorbTaint } from './cell-taint.ts';
import type { Handling } from './handling.ts';
import type { Timer } from './timer-wheel.ts';
import { STREAM_WINDOW } from './stream-windows.ts';

/** The asks of one thread that wait for an answer. */
export class AskTable {
  readonly #records: (WaitingAsk | undefined)[] = [];
  readonly #generations: number[] = [];
  readonly #free: number[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  open(record: WaitingAsk): number {
    const slot = this.#free.pop() ?? this.#records.length;
    const generation = ((this.#generations[slot] ?? 0) + 1) & LAST_GENERATION;
    this.#generations[slot] = generation;
    this.#records[slot] = record;
    this.#size += 1;
    return askName(slot, generation);
  }

  get(ask: number): WaitingAsk | undefined {
    const slot = askSlot(ask);
    return this.#generations[slot] === askGeneration(ask) ? this.#records[slot] : undefined;
  }

  /** An answer came in, perhaps from outside; the last one ends the wait. */
  answer(ask: number, kind: number, payload: unknown, taint?: Taint): void {
    const record = this.get(ask);
    if (record === undefined) return;
    if (taint !== undefined) record.tainted(taint, kind);
    const isLast = kind !== REPLY.progress && kind !== REPLY.chunk;
    if (isLast) this.close(ask);
    record.answer(kind, payload);
  }

  /** Ends the wait; undefined when it is over already. */
  close(ask: number): WaitingAsk | undefined {
    const record = this.get(ask);
    if (record === undefined) return undefined;
    const slot = askSlot(ask);
    this.#records[slot] = undefined;
    this.#free.push(slot);
    this.#size -= 1;
    record.timer?.cancel();
    record.release?.();
    record.owner?.hasAnswer(ask);
    if (record.link !== undefined) record.link.asksInFlight -= 1;
    return record;
  }

  *waiting(): Iterable<[number, WaitingAsk]> {
    for (let slot = 0; slot < this.#records.length; slot++) {
      const record = this.#records[slot];
      if (record !== undefined) yield [askName(slot, this.#generations[slot] as number), record];
    }
  }
}

/** Who hears of what comes before the answer, or with it. */
export type AskListeners = Pick<AskOptions, 'onProgress' | 'onTaint'>;

/** Fraction and note; of a checkpoint, what it keeps; of a report, what it says. */
type ProgressData =
  | readonly [number, string | null]
  | readonly [number, null, unknown]
  | readonly [number, null, null, unknown]
  | readonly [number, null, null, null, number];

/** One ask of this thread that waits for its answer. */
export abstract class WaitingAsk {
  readonly asked: Mail;
  /** The handling that waits, if one does. */
  readonly owner: Handling | undefined;
  /** Whom it went to. */
  agentId = '';
  /** Where it went; undefined within the thread. */
  link: Link | undefined = undefined;
  timer: Timer | undefined = undefined;
  /** Takes the listener off the asker's own signal. */
  release: (() => void) | undefined = undefined;
  /** Called when it is over, before the asker learns of it. */
  onOver: (() => void) | undefined = undefined;
  /** Lasts until the answer, where somebody traces. */
  span: Span | undefined = undefined;
  /** Takes in for the agent what no handling of it waits for. */
  absorbs: ((taint: Taint) => void) | undefined = undefined;
  readonly #listeners: AskListeners;
  /** What the last checkpoint kept. */
  #partial: unknown;

  constructor(asked: Mail, owner: Handling | undefined, listeners: AskListeners) {
    this.asked = asked;
    this.owner = owner;
    this.#listeners = listeners;
  }

  /** What comes next, as a `REPLY` kind, came from outside. */
  tainted(taint: Taint, _kind: number): void {
    const { owner } = this;
    if (owner === undefined) this.absorbs?.(taint);
    else absorbTaint(owner.cell, owner.mail, taint);
    callOutside(this.#listeners.onTaint, taint);
  }

  /** The answer, as `REPLY` kinds. Returns true while more is to come. */
  answer(kind: number, payload: unknown): boolean {
    if (kind === REPLY.progress) {
      this.#progress(payload as ProgressData);
      return true;
    }
    if (kind !== REPLY.chunk) {
      this.onOver?.();
      this.span?.end(kind === REPLY.error ? (payload as ErrorData) : undefined);
    }
    if (kind === REPLY.error) this.failed(this.#withPartial(this.#errorOf(payload as ErrorData)));
    else return this.answered(kind, payload);
    return false;
  }

  fail(error: Error): void {
    this.onOver?.();
    this.span?.end(error);
    this.failed(this.#withPartial(error));
  }

  /** A value, a chunk or the end. Returns true while more is to come. */
  protected abstract answered(kind: number, payload: unknown): boolean;
  protected abstract failed(error: Error): void;

  /** Where it was thrown is for the embedder: agents are given code and message. */
  #errorOf(data: ErrorData): OrreryError {
    return isSystemId(this.asked.sender) ? embedderError(data) : errorFromData(data);
  }

  #progress(data: ProgressData): void {
    const [fraction, note] = data;
    const { onProgress } = this.#listeners;
    if (data.length === 5) callOutside(onProgress, { fraction, dropped: data[4] });
    else if (data.length === 4) callOutside(onProgress, { fraction, report: copyJson(data[3]) });
    else if (data.length === 3) {
      this.#partial = data[2];
      callOutside(onProgress, { fraction, partial: structuredClone(data[2]) });
    } else callOutside(onProgress, note === null ? { fraction } : { fraction, note });
  }

  /** However it failed: what the work came to is in the details. */
  #withPartial(error: Error): Error {
    const partial = this.#partial;
    if (partial === undefined || !isOrreryError(error) || error.details['partial'] !== undefined)
      return error;
    const { code, message, details, cause } = error;
    return new OrreryError(code, message, { details: { ...details, partial }, cause });
  }
}

/** An ask that waits for one value. */
export class WaitingValue extends WaitingAsk {
  readonly #resolve: (value: never) => void;
  readonly #reject: (error: Error) => void;

  constructor(
    asked: Mail,
    owner: Handling | undefined,
    resolve: (value: never) => void,
    reject: (error: Error) => void,
    listeners: AskListeners,
  ) {
    super(asked, owner, listeners);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  protected answered(kind: number, payload: unknown): boolean {
    if (kind === REPLY.value || kind === REPLY.empty) this.#resolve(payload as never);
    return false;
  }

  protected failed(error: Error): void {
    this.#reject(error);
  }
}

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
