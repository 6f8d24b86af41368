import type { Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { z } from 'zod';
import { parseOptions } from '../protocol/parse-options.ts';
import {
  cancelled,
  errorFromData,
  invalidOptions,
  isOrreryError,
  moduleInvalid,
  OrreryError,
  reasonOf,
  systemStopped,
} from '../protocol/errors.ts';
import type { Clock, Seams } from '../protocol/seams.ts';
import type { OffloadedOutcome, OffloadedTask, ThrownError } from './run-offloaded.worker.ts';
import { Semaphore } from './semaphore.ts';

/** What a timer can wait, milliseconds. */
const MOST_MS = 2 ** 31 - 1;

/**
 * - `maxThreads`               tasks that run at once; the others wait their turn.
 * - `idleTimeoutMs`            how long a thread without a task stays.
 * - `loadedTimeoutMs`          the same of a thread whose tasks keep what they have loaded (`OffloadOptions`).
 * - `maxOldGenerationSizeMb`   heap of a thread. A task that needs more loses its thread, but a thread is no wall: some
 *                              ways to exhaust it end the process, and some cannot be ended at all.
 * - `maxYoungGenerationSizeMb` what of it is new. Less of it is collected more often. @default what Node takes, 64
 */
export const CpuPoolOptions = z.strictObject({
  maxThreads: z.int().positive().default(1),
  idleTimeoutMs: z.int().nonnegative().default(5_000),
  loadedTimeoutMs: z.int().nonnegative().max(MOST_MS).default(3_600_000),
  maxOldGenerationSizeMb: z.number().min(16).default(256),
  maxYoungGenerationSizeMb: z.number().min(1).optional(),
});
export type CpuPoolOptions = z.input<typeof CpuPoolOptions>;

// `terminate()` ends an endless loop in milliseconds; a thread that outlasts this will not end.
const ENDING_MS = 2_000;

/**
 * - `keepsLoaded` whether what the module loads is to be there for its next task: its thread then stays for `loadedTimeoutMs`
 *                 without one, and no task is run, or ended, in it that does not say so. @default false
 */
export const OffloadOptions = z.strictObject({ keepsLoaded: z.boolean().default(false) });
export type OffloadOptions = z.input<typeof OffloadOptions>;

/** - `signal` ends the task. */
export interface OffloadTerms extends OffloadOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Which threads: those of all tasks, or those of tasks that keep what they have loaded. */
type Kind = 'passing' | 'loaded';

/** Threads for work that computes long, so that no agent's thread does (piscina). It has none until the first `run`. */
export class CpuPool {
  readonly #clock: Clock;
  readonly #options: z.output<typeof CpuPoolOptions>;
  // Tasks wait here, not in piscina: when an abort ends its last thread, it starts none for those it has queued.
  readonly #turns: Semaphore;
  readonly #threads = new Set<Worker>();
  readonly #pools = new Map<Kind, Promise<Piscina>>();
  #startFailure: unknown;
  #isClosed = false;

  constructor({ seams }: { readonly seams: Pick<Seams, 'clock'> }, options: CpuPoolOptions = {}) {
    const parsed = parseOptions(CpuPoolOptions, options, 'cpuPool');
    this.#clock = seams.clock;
    this.#options = parsed;
    this.#turns = new Semaphore(parsed.maxThreads);
  }

  /**
   * What the default export of `module` returns for `input`; both cross as structured clones.
   *
   * Rejects with what the function throws (its message, name and code), else with INVALID_OPTIONS when `module` is no
   * URL, MODULE_INVALID, NOT_SERIALISABLE, THREAD_DIED when the task ended its thread, SYSTEM_STOPPED when the pool
   * closes. When `signal` aborts, the task's thread is ended and `run` rejects with the reason, if that is an
   * `OrreryError`, else with CANCELLED.
   */
  async run<Output>(module: URL, input: unknown, { signal, ...options }: OffloadTerms = {}): Promise<Output> {
    if (!(module instanceof URL)) {
      throw invalidOptions('module', module, "a URL, such as new URL('./sums.js', import.meta.url)");
    }
    const { keepsLoaded } = parseOptions(OffloadOptions, options, 'options');
    const task: OffloadedTask = { module: module.href, input };
    const isTurn = await this.#turns.take(signal);
    if (!isTurn) throw this.#explain(task, undefined, signal);
    try {
      const outcome = await this.#runInThread(task, keepsLoaded ? 'loaded' : 'passing', signal);
      if (outcome.kind === 'returned') return outcome.value as Output;
      throw outcome.kind === 'threw'
        ? thrownError(outcome.error)
        : moduleInvalid(task.module, outcome.reason);
    } finally {
      this.#turns.end();
    }
  }

  /** Ends every task and waits for its thread to end; returns how many did not within two seconds: 0, or a defect. */
  async close(): Promise<number> {
    this.#isClosed = true;
    this.#turns.dismiss();
    const pools = await Promise.all(this.#pools.values());
    // Piscina no longer counts the workers that an abort ended; they may still be ending.
    const exits = [...this.#threads].map((thread) => new Promise((ended) => thread.once('exit', ended)));
    const allEnded = Promise.all([...pools.map((pool) => pool.destroy()), ...exits]);
    let cancelTimer = (): void => undefined;
    const tooLate = new Promise((late) => {
      cancelTimer = this.#clock.setTimer(ENDING_MS, () => late(undefined));
    });
    await Promise.race([allEnded, tooLate]);
    cancelTimer();
    return this.#threads.size;
  }

  async #runInThread(
    task: OffloadedTask,
    kind: Kind,
    signal: AbortSignal | undefined,
  ): Promise<OffloadedOutcome> {
    try {
      const pool = await this.#open(kind);
      if (this.#isClosed || signal?.aborted) throw this.#explain(task, undefined, signal);
      return await pool.run(task, signal === undefined ? {} : { signal });
    } catch (error) {
      throw this.#explain(task, error, signal);
    }
  }

  /** The pool, made when first needed: whoever never offloads does not load piscina. */
  #open(kind: Kind): Promise<Piscina> {
    if (this.#isClosed) throw systemStopped('its CPU pool is closed');
    const known = this.#pools.get(kind);
    if (known !== undefined) return known;
    const made = this.#make(kind);
    this.#pools.set(kind, made);
    return made;
  }

  async #make(kind: Kind): Promise<Piscina> {
    const { Piscina } = await import('piscina');
    const { maxThreads, idleTimeoutMs, loadedTimeoutMs } = this.#options;
    const { maxOldGenerationSizeMb, maxYoungGenerationSizeMb } = this.#options;
    const pool = new Piscina({
      filename: new URL('./run-offloaded.worker.ts', import.meta.url).href,
      name: 'runOffloaded',
      minThreads: 0,
      maxThreads,
      idleTimeout: kind === 'loaded' ? loadedTimeoutMs : idleTimeoutMs,
      resourceLimits: {
        maxOldGenerationSizeMb,
        ...(maxYoungGenerationSizeMb === undefined ? {} : { maxYoungGenerationSizeMb }),
      },
      recordTiming: false,
    });
    pool.on('workerCreate', () => this.#track(pool.threads));
    pool.on('error', (error: unknown) => this.#replaceBroken(kind, pool, error));
    return pool;
  }

  #track(threads: readonly Worker[]): void {
    for (const thread of threads) {
      if (this.#threads.has(thread)) continue;
      this.#threads.add(thread);
      thread.once('exit', () => this.#threads.delete(thread));
    }
  }

  /** A thread that dies while it starts has no task yet, and piscina starts no other: its tasks would wait for ever. */
  #replaceBroken(kind: Kind, pool: Piscina, error: unknown): void {
    if (pool.threads.length > 0) return;
    this.#pools.delete(kind);
    this.#startFailure = error;
    // Rejects its tasks; nothing is left to wait for.
    void pool.destroy();
  }

  #explain(task: OffloadedTask, error: unknown, signal: AbortSignal | undefined): Error {
    if (signal?.aborted)
      return isOrreryError(signal.reason) ? signal.reason : cancelled(`${task.module} (offloaded)`);
    if (this.#isClosed) return systemStopped(`the CPU pool is closed, ${task.module} did not finish`);
    if (isCloneError(error)) return notCloneable(task.module, error);
    const cause = this.#startFailure ?? error;
    this.#startFailure = undefined;
    return offloadDied(task.module, cause);
  }
}

const notCloneable = (module: string, cause: Error): OrreryError =>
  new OrreryError('NOT_SERIALISABLE', `Input or result of ${module} cannot be cloned: ${firstLine(cause)}`, {
    details: { module },
    cause,
  });

const offloadDied = (module: string, cause: unknown): OrreryError => {
  const reason = firstLine(cause);
  return new OrreryError('THREAD_DIED', `The thread that ran ${module} died: ${reason}`, {
    details: { module, reason },
    cause,
  });
};

/** A `DOMException` that ended a thread arrives with no name and no message, but with its stack. */
const isCloneError = (error: unknown): error is Error =>
  error instanceof Error &&
  (error.name === 'DataCloneError' || firstLine(error).startsWith('DataCloneError'));

function firstLine(error: unknown): string {
  if (!(error instanceof Error)) return reasonOf(error);
  return error.message || (error.stack?.split('\n', 1)[0] ?? error.name);
}

function thrownError({ name, message, stack, code, orrery }: ThrownError): Error {
  const error = orrery === undefined ? new Error(message) : errorFromData(orrery);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return code === undefined || orrery !== undefined ? error : Object.assign(error, { code });
}
