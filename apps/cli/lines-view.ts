import { isOver, type LoopEvent } from '@orrery/ralph-loop';
import { clockTime } from './progress.ts';
import type { Screen } from './screen.ts';
import { taskLine } from './task-line.ts';
import type { View } from './view.ts';

/** The view for logs and pipes: a line for each task when it is over. */
export class LinesView implements View {
  readonly #screen: Screen;
  #startedAtMs = 0;
  #tasks = 0;
  #over = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  show(event: LoopEvent): void {
    if (event.type === 'mission.started') {
      this.#startedAtMs = event.atMs;
      this.#tasks = event.tasks.length;
    } else if (event.type === 'progress.lost') this.#screen.write(`${taskLine(event)}\n`);
    else if (event.type === 'task.changed' && isOver(event.status)) {
      this.#over += 1;
      const at = clockTime(event.atMs - this.#startedAtMs);
      this.#screen.write(`${at}  ${this.#over}/${this.#tasks}  ${taskLine(event)}\n`);
    }
  }

  close(): void {}
}
