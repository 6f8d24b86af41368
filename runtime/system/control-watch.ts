import { controlLost, type OrreryError, startFailed } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import { type ProgressSample, type ProgressLimits, ProgressWatch } from '../supervision/progress-watch.ts';

/** Once it runs, the control thread beats ten times a second, however busy the system is. */
const RUNNING: ProgressLimits = { quietMs: 3_000, computeMs: 3_000 };

/** The word in which the control thread beats. */
export const newControlBeat = (): SharedArrayBuffer => new SharedArrayBuffer(4);

export interface ControlWatchDeps {
  readonly clock: Clock;
  /** How far the control thread has come, as the system sees it. */
  readonly footing: () => Promise<Pick<ProgressSample, 'cpuMs' | 'isRunnable'>>;
  /** Is told CONTROL_LOST, or START_FAILED if it never ran. */
  readonly onLost: (error: OrreryError) => void;
}

/** Watches the control thread from the embedder's: it watches everybody else, and nobody else watches it. */
export class ControlWatch {
  readonly #deps: ControlWatchDeps;
  readonly #beat: Int32Array;
  #watch: ProgressWatch;
  #isRunning = false;

  /** `starting`: how long it may take until its first beat. */
  constructor(memory: SharedArrayBuffer, deps: ControlWatchDeps, starting: ProgressLimits) {
    this.#deps = deps;
    this.#beat = new Int32Array(memory);
    this.#watch = this.#begin(starting);
  }

  close(): void {
    this.#watch.close();
  }

  #begin(limits: ProgressLimits): ProgressWatch {
    const { clock, onLost } = this.#deps;
    return new ProgressWatch(
      {
        clock,
        sample: () => this.#sample(),
        onStill: ({ text, hasBegun }) =>
          onLost(hasBegun ? controlLost(text) : startFailed('the control thread', 'run the system', text)),
      },
      limits,
    );
  }

  async #sample(): Promise<ProgressSample> {
    if (this.#beat[0] !== 0 && !this.#isRunning) {
      this.#isRunning = true;
      this.#watch.close();
      this.#watch = this.#begin(RUNNING);
    }
    const footing = await this.#deps.footing();
    const beat = this.#beat[0] as number;
    return { ...footing, signs: beat, beat };
  }
}
