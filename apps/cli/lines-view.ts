import { isOver, type LoopEvent } from '@orrery/ralph-loop';
import { advanceHands, emptyHands, type Hands } from './hand.ts';
import { newsOf, overLine } from './mission-news.ts';
import { clockTime } from './progress.ts';
import type { Screen } from './screen.ts';
import { taskLine } from './task-line.ts';
import type { View } from './view.ts';

/**
 * The view for logs and pipes: a line for each task when it is over, and of a change also for each gate, and for each attempt that
 * came to nothing.
 */
export class LinesView implements View {
  readonly #screen: Screen;
  #hands: Hands;
  #startedAtMs = 0;
  #tasks = 0;
  #over = 0;

  /** `changes`: ids of the tasks that are to change the repository. */
  constructor(screen: Screen, changes: Iterable<string> = []) {
    this.#screen = screen;
    this.#hands = emptyHands(changes);
  }

  show(event: LoopEvent): void {
    if (event.type === 'mission.started') {
      this.#startedAtMs = event.atMs;
      this.#tasks = event.tasks.length;
    } else if (event.type === 'progress.lost') this.#screen.write(`${taskLine(event)}\n`);
    else if (event.type === 'task.changed' && isOver(event.status)) {
      this.#over += 1;
      this.#line(event.atMs, overLine(event, this.#hands));
    } else {
      const news = newsOf(event, this.#hands);
      if (news !== undefined) this.#line(event.atMs, news.line);
    }
    this.#hands = advanceHands(this.#hands, event);
  }

  close(): void {}

  #line(atMs: number, line: string): void {
    this.#screen.write(`${clockTime(atMs - this.#startedAtMs)}  ${this.#over}/${this.#tasks}  ${line}\n`);
  }
}
