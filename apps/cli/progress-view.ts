import { isDone, isOver, type LoopEvent, ratedFindingLine } from '@orrery/ralph-loop';
import type { Clock } from 'orrery';
import { advanceProgress, NO_PROGRESS, type Progress, progressLine } from './progress.ts';
import { Redrawn } from './redrawn.ts';
import { type Estimate, remainingMs, settled, toldMs } from './remaining.ts';
import type { Screen } from './screen.ts';
import { taskLine } from './task-line.ts';
import type { View } from './view.ts';

/** Findings of one task to print while others run. The report has all. */
const MAX_SHOWN = 10;

/** The view for terminals: a line about the progress, with findings and failures above it as they come. */
export class ProgressView implements View {
  readonly #screen: Screen;
  readonly #drawn: Redrawn;
  #progress: Progress = NO_PROGRESS;
  #estimate: Estimate | undefined;

  constructor(screen: Screen, clock: Clock) {
    this.#screen = screen;
    this.#drawn = new Redrawn(screen, clock, () => [this.#line(clock.now(), screen.columns - 1)]);
  }

  show(event: LoopEvent): void {
    this.#progress = advanceProgress(this.#progress, event);
    const lines = this.#news(event);
    if (lines.length > 0) this.#drawn.print(`${lines.join('\n')}\n`);
    else this.#drawn.change();
  }

  close(): void {
    this.#drawn.close();
  }

  #line(nowMs: number, columns: number): string {
    this.#estimate = settled(this.#estimate, remainingMs(this.#progress, nowMs), nowMs);
    return progressLine(this.#progress, { nowMs, leftMs: toldMs(this.#estimate, nowMs), columns });
  }

  #news(event: LoopEvent): readonly string[] {
    if (event.type === 'progress.lost') return [taskLine(event)];
    if (event.type !== 'task.changed' || !isOver(event.status)) return [];
    const { task, status, findings } = event;
    const wrong =
      isDone(status) || status === 'cancelled' ? [] : [this.#screen.paint('red', taskLine(event))];
    const shown = findings
      .slice(0, MAX_SHOWN)
      .map((finding) => ratedFindingLine({ ...finding, task }, this.#screen.paint));
    const more = findings.length - shown.length;
    return [...wrong, ...shown, ...(more > 0 ? [`          ... and ${more} more of ${task}`] : [])];
  }
}
