import { availableParallelism } from 'node:os';
import { isMainThread } from 'node:worker_threads';

/**
 * When things run in one thread.
 *
 * - `defer`      after the code that runs now, before anything else.
 * - `soon`       after the code that runs now and the promises that it settled, before the event loop turns.
 * - `yieldTurn`  when the event loop has had a turn.
 * - `listens`    how a thread waits for a message that is on its way: `awake` where the other threads run meanwhile,
 *                `asleep` where they need its core for that, `never` where it may not wait.
 */
export interface EventLoop {
  defer(run: () => void): void;
  soon(run: () => void): void;
  yieldTurn(run: () => void): void;
  readonly listens: 'awake' | 'asleep' | 'never';
}

export const nodeEventLoop = (): EventLoop => ({
  defer: (run) => process.nextTick(run),
  soon: (run) => queueMicrotask(run),
  yieldTurn: (run) => setImmediate(run),
  listens: mannerOfListening(),
});

/** The embedder's own thread has other things to do than to sleep. */
function mannerOfListening(): EventLoop['listens'] {
  if (availableParallelism() > 1) return 'awake';
  return isMainThread ? 'never' : 'asleep';
}
