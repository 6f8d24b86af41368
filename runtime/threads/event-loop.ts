import { availableParallelism } from 'node:os';

/**
 * When things run in one thread.
 *
 * - `defer`      after the code that runs now, before anything else.
 * - `soon`       after the code that runs now and the promises that it settled, before the event loop turns.
 * - `yieldTurn`  when the event loop has had a turn.
 * - `isParallel` other threads can run while this one does.
 */
export interface EventLoop {
  defer(run: () => void): void;
  soon(run: () => void): void;
  yieldTurn(run: () => void): void;
  readonly isParallel: boolean;
}

export const nodeEventLoop = (): EventLoop => ({
  defer: (run) => process.nextTick(run),
  soon: (run) => queueMicrotask(run),
  yieldTurn: (run) => setImmediate(run),
  isParallel: availableParallelism() > 1,
});
