import type { Clock } from '../../../runtime/protocol/seams.ts';

/** So much is told in each window of time, and no more: a server may log without end. */
const WINDOW_MS = 1_000;
const MAX_BYTES = 4_096;

/** Tells what a server writes to its log, at most a few kilobytes a second; of the rest it tells how much it was. */
export class LogWindow {
  readonly #clock: Pick<Clock, 'setTimer' | 'monotonicMs'>;
  readonly #tell: (text: string) => void;
  #openedAtMs = Number.NEGATIVE_INFINITY;
  #told = 0;
  #dropped = 0;

  constructor(clock: Pick<Clock, 'setTimer' | 'monotonicMs'>, tell: (text: string) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  add(chunk: Buffer): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#openedAtMs >= WINDOW_MS) {
      this.end();
      this.#openedAtMs = nowMs;
      this.#told = 0;
    }
    const room = MAX_BYTES - this.#told;
    const text = chunk.subarray(0, room).toString('utf8').trimEnd();
    this.#told += Math.min(chunk.length, room);
    this.#dropped += Math.max(0, chunk.length - room);
    if (text !== '') this.#tell(text);
  }

  /** Tells how much was not told. */
  end(): void {
    if (this.#dropped > 0) this.#tell(`(${this.#dropped} bytes more)`);
    this.#dropped = 0;
  }
}
