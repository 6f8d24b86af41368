import type { Waits } from './running.ts';
import type { VirtualThread } from './virtual-thread.ts';

/**
 * A step that a thread will take.
 *
 * - `atMs`    earliest time, virtual milliseconds.
 * - `dueMs`   the first `atMs`; steps that a busy thread has postponed run in this order.
 * - `serial`  counts all steps, and breaks ties.
 * - `isTimer` whether it waits for virtual time to pass.
 */
export interface ScheduledStep {
  atMs: number;
  readonly dueMs: number;
  readonly serial: number;
  readonly thread: VirtualThread;
  readonly isTimer: boolean;
  readonly run: () => void;
  isCancelled: boolean;
  /** The timers of the handler that has set this one. */
  waits: Waits | undefined;
}

/** A binary heap of steps by time. */
export class StepHeap {
  readonly #steps: ScheduledStep[] = [];

  get first(): ScheduledStep | undefined {
    return this.#steps[0];
  }

  push(step: ScheduledStep): void {
    const steps = this.#steps;
    let at = steps.push(step) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = steps[parent] as ScheduledStep;
      if (!isBefore(step, above)) break;
      steps[at] = above;
      at = parent;
    }
    steps[at] = step;
  }

  pop(): ScheduledStep | undefined {
    const steps = this.#steps;
    const first = steps[0];
    const last = steps.pop();
    if (first === undefined || last === undefined || steps.length === 0) return first;
    let at = 0;
    for (let child = 1; child < steps.length; child = 2 * at + 1) {
      const right = child + 1;
      if (right < steps.length && isBefore(steps[right] as ScheduledStep, steps[child] as ScheduledStep))
        child = right;
      if (!isBefore(steps[child] as ScheduledStep, last)) break;
      steps[at] = steps[child] as ScheduledStep;
      at = child;
    }
    steps[at] = last;
    return first;
  }
}

const isBefore = (one: ScheduledStep, other: ScheduledStep): boolean =>
  one.atMs !== other.atMs
    ? one.atMs < other.atMs
    : one.dueMs !== other.dueMs
      ? one.dueMs < other.dueMs
      : one.serial < other.serial;
