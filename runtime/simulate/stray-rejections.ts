import { running } from './running.ts';
import type { Scheduler } from './scheduler.ts';

type Listener = (reason: unknown, promise: Promise<unknown>) => void;

/**
 * Passes unhandled rejections of a virtual thread to that thread, as Node does for real ones. Those of other code go to the
 * former listeners.
 */
export class StrayRejections {
  readonly #scheduler: Scheduler;
  #others: Listener[] = [];

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  enable(): void {
    this.#others = process.listeners('unhandledRejection') as Listener[];
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', this.#take);
  }

  disable(): void {
    process.off('unhandledRejection', this.#take);
    for (const listener of this.#others) process.on('unhandledRejection', listener);
  }

  readonly #take: Listener = (reason, promise) => {
    const store = running.getStore();
    const scheduler = this.#scheduler;
    if (store?.scheduler === scheduler) {
      const { thread } = store;
      running.exit(() => scheduler.schedule(thread, thread.localMs, () => thread.onStray(reason)));
      return;
    }
    if (this.#others.length > 0) for (const listener of this.#others) listener(reason, promise);
    else
      queueMicrotask(() => {
        throw reason;
      });
  };
}
