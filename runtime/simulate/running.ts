import { AsyncLocalStorage } from 'node:async_hooks';
import type { Scheduler } from './scheduler.ts';
import type { ScheduledStep } from './step-heap.ts';
import type { VirtualThread } from './virtual-thread.ts';

/** Whose code runs: it goes along with everything that the code awaits. */
export interface Running {
  readonly scheduler: Scheduler;
  readonly thread: VirtualThread;
  /** Whom it runs for, if an agent's code is what runs. */
  readonly agentId?: string;
  /** What its handler waits for. */
  readonly waits?: Waits;
}

/** Timers that a handler has set and that are to fire yet, and how many it ever had. */
export interface Waits {
  timers: number;
  timersEver: number;
}

/** The code that runs for a simulation, also between the steps of one: it is how an escape is told from others' work. */
export const running = new AsyncLocalStorage<Running>();

/** A handler waits for the timer, if one has set it. */
export function countTimer(step: ScheduledStep): void {
  const waits = running.getStore()?.waits;
  if (waits === undefined) return;
  waits.timers += 1;
  waits.timersEver += 1;
  step.waits = waits;
}

/** It has fired, or will not. */
export function endTimer(step: ScheduledStep): void {
  if (step.waits !== undefined) step.waits.timers -= 1;
  step.waits = undefined;
}
