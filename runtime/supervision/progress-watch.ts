import type { Clock } from '../protocol/seams.ts';

const LOOK_MS = 500;
/** At least so many looks must find no progress before there is none. */
const MIN_LOOKS = 6;
/** The share of processor time that an idle thread uses for its timers, at most. */
const IDLE_SHARE = 1 / 300;

/**
 * How far a thread or a process has come.
 *
 * - `signs`      how many messages it has sent.
 * - `beat`       changes as its event loop turns; 0 until that has begun.
 * - `cpuMs`      processor time that it has used so far; NaN when that cannot be known.
 * - `isRunnable` whether it runs, or would if a processor were free. @default not known
 */
export interface ProgressSample {
  readonly signs: number;
  readonly beat: number;
  readonly cpuMs: number;
  readonly isRunnable?: boolean | undefined;
}

/**
 * - `quietMs`   how long nothing may happen.
 * - `computeMs` processor time that may be used between two turns of the event loop.
 */
export interface ProgressLimits {
  readonly quietMs: number;
  readonly computeMs: number;
}

/** Why something makes no progress, with a sentence that says so. `hasBegun`: its event loop has turned. */
export interface NoProgress {
  readonly why: 'quiet' | 'looping';
  readonly hasBegun: boolean;
  readonly text: string;
}

/**
 * - `sample`  asks how far it has come. If it rejects or never answers, that counts as no progress.
 * - `onStill` called once, when there is no progress; the watch is over then.
 */
export interface ProgressWatchDeps {
  readonly clock: Clock;
  sample(): Promise<ProgressSample>;
  onStill(still: NoProgress): void;
}

/**
 * Watches whether a thread, process or module makes progress, however slowly: on a busy machine everything takes longer.
 *
 * It counts looks, not time. It cannot look while its own thread is blocked, and nothing makes progress while the whole process
 * stands still.
 */
export class ProgressWatch {
  readonly #deps: ProgressWatchDeps;
  readonly #limits: ProgressLimits;
  /** The last sample that showed progress. */
  #last: ProgressSample | undefined;
  /** The last sample in which its event loop had turned. */
  #turned: ProgressSample | undefined;
  #beatAtLook: number | undefined;
  #isAsked = false;
  #quietLooks = 0;
  #isClosed = false;
  #cancel: () => void = () => undefined;

  constructor(deps: ProgressWatchDeps, limits: ProgressLimits) {
    this.#deps = deps;
    this.#limits = limits;
    this.#plan();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #plan(): void {
    const { quietMs } = this.#limits;
    this.#cancel = this.#deps.clock.setTimer(Math.min(LOOK_MS, quietMs / MIN_LOOKS), () => this.#look());
  }

  #look(): void {
    this.#quietLooks += 1;
    if (this.#quietLooks >= Math.max(MIN_LOOKS, this.#limits.quietMs / LOOK_MS)) {
      this.#end('quiet');
      return;
    }
    this.#plan();
    if (this.#isAsked) return;
    this.#isAsked = true;
    const answered = (footing?: ProgressSample): void => {
      this.#isAsked = false;
      if (footing !== undefined && !this.#isClosed) this.#judge(footing);
    };
    this.#deps.sample().then(answered, () => answered());
  }

  #judge(footing: ProgressSample): void {
    const { quietMs, computeMs } = this.#limits;
    const { signs, beat, cpuMs } = footing;
    if (this.#turned?.beat !== beat) this.#turned = footing;
    const last = this.#last;
    // A thread that only turns its event loop has done so since the last look, or got no processor.
    const isStarved = footing.isRunnable === true && beat === this.#beatAtLook;
    this.#beatAtLook = beat;
    if (
      isStarved ||
      last === undefined ||
      signs !== last.signs ||
      cpuMs - last.cpuMs >= quietMs * IDLE_SHARE
    ) {
      this.#last = footing;
      this.#quietLooks = 0;
    }
    if (beat > 0 && cpuMs - this.#turned.cpuMs >= computeMs) this.#end('looping');
  }

  #end(why: NoProgress['why']): void {
    this.close();
    const { quietMs, computeMs } = this.#limits;
    const text =
      why === 'quiet'
        ? `for ${seconds(quietMs)} it said nothing and used no processor time`
        : `it computed for ${seconds(computeMs)} without a pause`;
    this.#deps.onStill({ why, hasBegun: (this.#turned?.beat ?? 0) > 0, text });
  }
}

const seconds = (ms: number): string => `${ms / 1_000} s`;
