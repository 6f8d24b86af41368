import type { LoopEvent } from '@orrery/ralph-loop';
import type { Clock } from 'orrery';
import { advance, type Board, emptyBoard } from './board.ts';
import { boardLines } from './board-lines.ts';
import { Redrawn } from './redrawn.ts';
import type { Screen } from './screen.ts';
import type { View } from './view.ts';

/** The view of `--board`: a line for each agent and each change in hand, redrawn in place. */
export class BoardView implements View {
  readonly #drawn: Redrawn;
  #board: Board;

  /** `changes`: ids of the tasks that are to change the repository. */
  constructor(screen: Screen, clock: Clock, agents: readonly string[], changes: Iterable<string> = []) {
    this.#board = emptyBoard(agents, changes);
    this.#drawn = new Redrawn(screen, clock, () =>
      boardLines(this.#board, clock.now(), { columns: screen.columns - 1, rows: screen.rows }, screen.paint),
    );
  }

  show(event: LoopEvent): void {
    this.#board = advance(this.#board, event);
    this.#drawn.change();
  }

  close(): void {
    this.#drawn.close();
  }
}
