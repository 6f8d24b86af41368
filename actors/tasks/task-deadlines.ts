import { MAX_TIMER_MS } from '../../runtime/protocol/milliseconds.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { LiveTask } from './live-task.ts';

/** Until when tasks are wanted. */
export class TaskDeadlines {
  readonly #clock: Clock;
  readonly #onPassed: (task: LiveTask, deadlineAtMs: number) => void;
  readonly #stops = new Map<LiveTask, () => void>();

  constructor(clock: Clock, onPassed: (task: LiveTask, deadlineAtMs: number) => void) {
    this.#clock = clock;
    this.#onPassed = onPassed;
  }

  /** The task is wanted until then, Unix milliseconds, whatever was said before; undefined: for as long as it takes. */
  set(task: LiveTask, deadlineAtMs: number | undefined): void {
    this.clear(task);
    if (deadlineAtMs === undefined) return;
    const leftMs = Math.max(0, deadlineAtMs - this.#clock.now());
    const stop = this.#clock.setTimer(Math.min(leftMs, MAX_TIMER_MS), () => {
      if (leftMs > MAX_TIMER_MS) return this.set(task, deadlineAtMs);
      this.#stops.delete(task);
      this.#onPassed(task, deadlineAtMs);
    });
    this.#stops.set(task, stop);
  }

  clear(task: LiveTask): void {
    this.#stops.get(task)?.();
    this.#stops.delete(task);
  }

  close(): void {
    for (const stop of this.#stops.values()) stop();
    this.#stops.clear();
  }
}
