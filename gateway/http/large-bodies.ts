import { Worker } from 'node:worker_threads';
import { OrreryError, reasonOf, systemStopped } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { threadArguments } from '../../runtime/protocol/thread-arguments.ts';
import { type MemberLimits, tooMany } from './json-text.ts';
import type { JsonRead } from './json-text.ts';

/** Bodies of more bytes than this are counted and read in another thread. */
export const LARGE_BYTES = 1_048_576;

/** A message to the thread about a body: its next bytes, its end, or that it is not wanted any more. */
export type BodyOrder =
  | { readonly id: number; readonly chunk: Uint8Array }
  | { readonly id: number; readonly isWhole: boolean };

/** What the thread says of a body. `text`: the JSON of it, which takes less to read than its value takes to be copied. */
export type BodyReport = { readonly id: number } & (
  | JsonRead
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'too-many'; readonly what: string; readonly most: number }
);

/**
 * - `limits`    of the members of one body.
 * - `maxHeapMb` of the thread. A body that takes more ends it.
 * - `idleMs`    how long the thread stays without a body. @default 30 seconds
 * - `entry`     what the thread runs. @default what reads bodies
 */
export interface LargeBodiesOptions {
  readonly clock: Clock;
  readonly limits: MemberLimits;
  readonly maxHeapMb: number;
  readonly idleMs?: number;
  readonly entry?: URL;
}

const ownEntry = (): URL => new URL('./large-bodies.worker.ts', import.meta.url);
const IDLE_MS = 30_000;

/**
 * Reads large bodies in a thread of their own, so that they hold up nobody else. The thread starts with the first body, and
 * reads one after the other. Their number is bounded by `maxBytesInHand` of the gateway.
 */
export class LargeBodies {
  readonly #options: LargeBodiesOptions;
  readonly #open = new Map<number, LargeBody>();
  #thread: Worker | undefined;
  #cancelIdle: () => void = () => undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(options: LargeBodiesOptions) {
    this.#options = options;
  }

  /** How many are being read. */
  get size(): number {
    return this.#open.size;
  }

  /** Begins a body. Throws SYSTEM_STOPPED when closed. */
  begin(): LargeBody {
    if (this.#isClosed) throw systemStopped('the gateway is closed');
    this.#cancelIdle();
    this.#thread ??= this.#start();
    const thread = this.#thread;
    thread.ref();
    const id = ++this.#lastId;
    const body = new LargeBody({
      tell: (order) => thread.postMessage({ id, ...order }),
      onEnd: () => this.#ended(id),
    });
    this.#open.set(id, body);
    return body;
  }

  /** Ends the thread; what it has not read is refused with SYSTEM_STOPPED. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelIdle();
    this.#failAll(systemStopped('the gateway is closed'));
    await this.#thread?.terminate();
  }

  #start(): Worker {
    const { limits, maxHeapMb, entry = ownEntry() } = this.#options;
    const thread = new Worker(entry, {
      name: 'large bodies',
      ...threadArguments(process.execArgv),
      workerData: limits,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    let reason = 'it exited';
    thread.on('message', ({ id, ...report }: BodyReport) => this.#open.get(id)?.heard(report as BodyReport));
    // What it says cannot be taken in, and who waits for it is not known.
    thread.on('messageerror', () => void thread.terminate());
    // An unhandled 'error' would end the whole process.
    thread.on('error', (error) => {
      reason = reasonOf(error);
    });
    thread.once('exit', () => {
      // It was ended, and nobody waited for it.
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      this.#failAll(threadDied(reason));
    });
    return thread;
  }

  #failAll(error: OrreryError): void {
    for (const body of [...this.#open.values()]) body.fail(error);
  }

  #ended(id: number): void {
    this.#open.delete(id);
    if (this.#open.size > 0 || this.#isClosed) return;
    this.#thread?.unref();
    const { clock, idleMs = IDLE_MS } = this.#options;
    this.#cancelIdle = clock.setTimer(idleMs, () => {
      const thread = this.#thread;
      this.#thread = undefined;
      // Nobody waits for it.
      void thread?.terminate();
    });
  }
}

interface LargeBodyDeps {
  readonly tell: (order: { readonly chunk: Uint8Array } | { readonly isWhole: boolean }) => void;
  readonly onEnd: () => void;
}

/** One large body, from its first bytes until it is read or dropped. */
export class LargeBody {
  readonly #deps: LargeBodyDeps;
  readonly #read = Promise.withResolvers<JsonRead>();
  #refusal: OrreryError | undefined;
  #isOver = false;

  constructor(deps: LargeBodyDeps) {
    this.#deps = deps;
    // Whoever asks is told; nobody may.
    this.#read.promise.catch(() => undefined);
  }

  /** Takes the next bytes. Throws BODY_TOO_LARGE when those before had too many members, and THREAD_DIED. */
  take(chunk: Uint8Array): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    this.#deps.tell({ chunk });
  }

  /** Parses the body, after all its bytes. Rejects with BODY_TOO_LARGE, THREAD_DIED and SYSTEM_STOPPED. */
  json(): Promise<JsonRead> {
    if (!this.#isOver) this.#deps.tell({ isWhole: true });
    return this.#read.promise;
  }

  /** Drops the body: it is not wanted any more. */
  drop(): void {
    if (this.#isOver) return;
    this.#deps.tell({ isWhole: false });
    this.fail(systemStopped('nobody waits for the request'));
  }

  heard(report: BodyReport): void {
    switch (report.kind) {
      case 'too-many':
        return this.fail(tooMany(report.what, report.most));
      case 'text':
        return this.#settle({ kind: 'value', value: JSON.parse(report.text) });
      default:
        return this.#settle(report);
    }
  }

  fail(error: OrreryError): void {
    this.#refusal = error;
    this.#read.reject(error);
    this.#end();
  }

  #settle(read: JsonRead): void {
    this.#read.resolve(read);
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deps.onEnd();
  }
}

const threadDied = (reason: string): OrreryError =>
  new OrreryError('THREAD_DIED', `The thread that reads large bodies died: ${reason}`, {
    details: { module: 'large-bodies', reason },
  });
