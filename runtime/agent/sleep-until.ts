import type { Clock } from '../protocol/seams.ts';

/** Waits; rejects with the signal's reason when that aborts. */
export function sleepUntil(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const onAbort = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    const cancel = clock.setTimer(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
