import { AsyncLocalStorage } from 'node:async_hooks';
import type { Scheduler } from './scheduler.ts';
import type { ScheduledStep } from './step-heap.ts';
import type { VirtualThread } from './virtual-thread.ts';

/** The code that runs. It follows everything that the code awaits. */
export interface Running {
  readonly scheduler: Scheduler;
  readonly thread: VirtualThread;
  /** The agent whose code runs, if it is an agent's. */
  readonly agentId?: string;
  /** The timers of its handler. */
  readonly waits?: Waits;
}

/** Timers of a handler: those that are set, and all that it ever set. */
export interface Waits {
  timers: number;
  timersEver: number;
}

/** The code that runs for a simulation, also between steps. It distinguishes an escape from other work in the process. */
export const running = new AsyncLocalStorage<Running>();

/** Counts a timer for the handler that sets it, if any. */
export function countTimer(step: ScheduledStep): void {
  const waits = running.getStore()?.waits;
  if (waits === undefined) return;
  waits.timers += 1;
  waits.timersEver += 1;
  step.waits = waits;
}

/** Called when a timer has fired, or is cancelled. */
export function endTimer(step: ScheduledStep): void {
  if (step.waits !== undefined) step.waits.timers -= 1;
  step.waits = undefined;
}
