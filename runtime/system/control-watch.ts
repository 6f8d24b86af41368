import type { Clock } from '../protocol/seams.ts';

const INTERVAL_MS = 500;
/** Looks at an unchanged beat before the control thread is given up. */
const LOOKS = 6;
/** Looks before the first beat: on a busy machine a thread may take long to start. */
const LOOKS_AT_START = 60;

/** The word in which the control thread beats. */
export const newControlBeat = (): SharedArrayBuffer => new SharedArrayBuffer(4);

/**
 * Watches the control thread's beat from the embedder's thread: it watches everybody else, and nobody else watches it.
 *
 * Looks are counted, not time: while the embedder's thread is blocked it cannot look, and while the whole process stands
 * still nobody beats.
 */
export class ControlWatch {
  readonly #beat: Int32Array;
  readonly #clock: Clock;
  readonly #onLost: (reason: string) => void;
  #seen = 0;
  #looks = 0;
  #cancel: () => void = () => undefined;

  constructor(memory: SharedArrayBuffer, clock: Clock, onLost: (reason: string) => void) {
    this.#beat = new Int32Array(memory);
    this.#clock = clock;
    this.#onLost = onLost;
    this.#plan();
  }

  close(): void {
    this.#cancel();
  }

  #plan(): void {
    this.#cancel = this.#clock.setTimer(INTERVAL_MS, () => this.#look());
  }

  #look(): void {
    const beat = this.#beat[0] as number;
    this.#looks = beat === this.#seen ? this.#looks + 1 : 0;
    this.#seen = beat;
    if (this.#looks < (beat === 0 ? LOOKS_AT_START : LOOKS)) this.#plan();
    else this.#onLost(`it gave no sign of life for ${(this.#looks * INTERVAL_MS) / 1_000} s`);
  }
}
