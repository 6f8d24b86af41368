import type { Clock } from 'orrery';
import type { Screen } from './screen.ts';

const REDRAW_MS = 100;
/** Interval of redrawing when nothing happens, so that the time moves, milliseconds. */
const TICK_MS = 1_000;

const UP = (lines: number): string => (lines === 0 ? '' : `\x1b[${lines}A`);
const CLEAR_BELOW = '\x1b[0J';

/** Lines at the end of the screen that are redrawn in place, at most ten times a second. They are removed by `close`. */
export class Redrawn {
  readonly #screen: Screen;
  readonly #clock: Clock;
  readonly #lines: () => readonly string[];
  #drawnLines = 0;
  #drawnAtMs = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #isClosed = false;

  /** `lines` returns the present lines. */
  constructor(screen: Screen, clock: Clock, lines: () => readonly string[]) {
    this.#screen = screen;
    this.#clock = clock;
    this.#lines = lines;
  }

  /** Redraws soon, because the lines have changed. */
  change(): void {
    this.#drawIn(Math.max(0, this.#drawnAtMs + REDRAW_MS - this.#clock.monotonicMs()));
  }

  /** Prints permanent text above the lines. */
  print(text: string): void {
    if (this.#isClosed) return;
    this.#screen.write(`${this.#eraser()}${text}`);
    this.#draw();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer?.();
    this.#screen.write(this.#eraser());
  }

  #eraser(): string {
    const erased = `${UP(this.#drawnLines)}\r${CLEAR_BELOW}`;
    this.#drawnLines = 0;
    return erased;
  }

  #drawIn(delayMs: number): void {
    if (this.#isClosed) return;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.setTimer(delayMs, () => this.#draw());
  }

  #draw(): void {
    const lines = this.#lines();
    this.#screen.write(`${this.#eraser()}${lines.join('\n')}\n`);
    this.#drawnLines = lines.length;
    this.#drawnAtMs = this.#clock.monotonicMs();
    this.#drawIn(TICK_MS);
  }
}
