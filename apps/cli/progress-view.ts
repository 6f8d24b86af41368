import { isDone, isOver, type LoopEvent, ratedFindingLine } from '@orrery/ralph-loop';
import type { Clock } from 'orrery';
import { advanceHands, emptyHands, type Hands } from './hand.ts';
import { costOfAll, handLines } from './hand-lines.ts';
import { newsOf, overLine } from './mission-news.ts';
import { advanceProgress, NO_PROGRESS, type Progress, progressLine } from './progress.ts';
import { Redrawn } from './redrawn.ts';
import { type Estimate, remainingMs, settled, toldMs } from './remaining.ts';
import type { Screen } from './screen.ts';
import { taskLine } from './task-line.ts';
import type { View } from './view.ts';

/** Findings of one task to print while others run. The report has all. */
const MAX_SHOWN = 10;
/** Rows for the progress, and for the cursor below it: a block taller than the screen could not be redrawn. */
const ROWS_BESIDE = 2;

/**
 * The view for terminals: a line about the progress, and one for each change in hand, with findings and failures above them as
 * they come.
 */
export class ProgressView implements View {
  readonly #screen: Screen;
  readonly #drawn: Redrawn;
  #progress: Progress = NO_PROGRESS;
  #estimate: Estimate | undefined;
  #hands: Hands;

  /** `changes`: ids of the tasks that are to change the repository. */
  constructor(screen: Screen, clock: Clock, changes: Iterable<string> = []) {
    this.#screen = screen;
    this.#hands = emptyHands(changes);
    this.#drawn = new Redrawn(screen, clock, () => this.#lines(clock.now(), screen.columns - 1));
  }

  show(event: LoopEvent): void {
    this.#progress = advanceProgress(this.#progress, event);
    const lines = this.#news(event);
    this.#hands = advanceHands(this.#hands, event);
    if (lines.length > 0) this.#drawn.print(`${lines.join('\n')}\n`);
    else this.#drawn.change();
  }

  close(): void {
    this.#drawn.close();
  }

  #lines(nowMs: number, columns: number): readonly string[] {
    const { paint, rows } = this.#screen;
    this.#estimate = settled(this.#estimate, remainingMs(this.#progress, nowMs), nowMs);
    const leftMs = toldMs(this.#estimate, nowMs);
    const cost = costOfAll(this.#hands);
    return [
      ...handLines(this.#hands, { columns, rows: rows - ROWS_BESIDE, nowMs }, paint),
      progressLine(this.#progress, { nowMs, leftMs, cost, columns }),
    ];
  }

  #news(event: LoopEvent): readonly string[] {
    if (event.type === 'progress.lost') return [taskLine(event)];
    if (event.type === 'task.changed' && isOver(event.status)) return this.#over(event);
    const news = newsOf(event, this.#hands);
    // Its line shows what went well.
    return news?.isBad === true ? [this.#screen.paint('yellow', news.line)] : [];
  }

  #over(event: Extract<LoopEvent, { type: 'task.changed' }>): readonly string[] {
    const { task, status, findings } = event;
    const { paint } = this.#screen;
    const line = overLine(event, this.#hands);
    const isChange = this.#hands.changes.has(task);
    const wrong = isDone(status) || status === 'cancelled' ? [] : [paint('red', line)];
    const shown = findings
      .slice(0, MAX_SHOWN)
      .map((finding) => ratedFindingLine({ ...finding, task }, paint));
    const more = findings.length - shown.length;
    return [
      ...(isChange && isDone(status) ? [paint('green', line)] : wrong),
      ...shown,
      ...(more > 0 ? [`          ... and ${more} more of ${task}`] : []),
    ];
  }
}
