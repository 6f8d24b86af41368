import type { LoopEvent } from '@orrery/ralph-loop';
import type { Clock } from 'orrery';
import { advance, type Board, emptyBoard } from './board.ts';
import { boardLines } from './board-lines.ts';
import type { Screen } from './screen.ts';

/** Shows a mission while it runs. */
export interface View {
  show(event: LoopEvent): void;
  /** Nothing is shown after this. */
  close(): void;
}

const REDRAW_MS = 100;
/** The time on the board moves even when nothing happens. */
const TICK_MS = 1_000;

const UP = (lines: number): string => (lines === 0 ? '' : `\x1b[${lines}A`);
const CLEAR_BELOW = '\x1b[0J';

/** Draws the board in place, at most ten times a second; it is gone when the view is closed. */
export class LiveView implements View {
  readonly #screen: Screen;
  readonly #clock: Clock;
  #board: Board;
  #drawnLines = 0;
  #drawnAtMs = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #isClosed = false;

  constructor(screen: Screen, clock: Clock, agents: readonly string[]) {
    this.#screen = screen;
    this.#clock = clock;
    this.#board = emptyBoard(agents);
  }

  show(event: LoopEvent): void {
    this.#board = advance(this.#board, event);
    this.#drawIn(Math.max(0, this.#drawnAtMs + REDRAW_MS - this.#clock.monotonicMs()));
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer?.();
    this.#screen.write(`${UP(this.#drawnLines)}\r${CLEAR_BELOW}`);
  }

  #drawIn(delayMs: number): void {
    if (this.#isClosed) return;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.setTimer(delayMs, () => this.#draw());
  }

  #draw(): void {
    const { columns, rows, paint } = this.#screen;
    const lines = boardLines(this.#board, this.#clock.now(), { columns: columns - 1, rows }, paint);
    this.#screen.write(`${UP(this.#drawnLines)}\r${CLEAR_BELOW}${lines.join('\n')}\n`);
    this.#drawnLines = lines.length;
    this.#drawnAtMs = this.#clock.monotonicMs();
    this.#drawIn(TICK_MS);
  }
}
