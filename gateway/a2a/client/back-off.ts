import { MessageChannel } from 'node:worker_threads';
import { cancelled } from '../../../runtime/protocol/errors.ts';
import type { Clock, Random } from '../../../runtime/protocol/seams.ts';

/**
 * How long to wait before attempt `attempt` (the second is 1), in milliseconds: doubled each time up to `maxMs`, and by
 * chance up to half less, so that many who lost the same server do not come back at once. Never before the other side wants.
 */
export function backOffMs(
  attempt: number,
  {
    baseMs,
    maxMs,
    retryAfterMs = 0,
  }: { readonly baseMs: number; readonly maxMs: number; readonly retryAfterMs?: number | undefined },
  random: Random,
): number {
  const fullMs = Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  return Math.max(retryAfterMs, fullMs * (1 - random() / 2));
}

/**
 * Waits, and keeps the process alive for as long: timers do not, and who waits for an answer has nothing else open while
 * nothing is asked. Rejects with CANCELLED when `signal` aborts.
 */
export function wait(ms: number, clock: Pick<Clock, 'setTimer'>, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const letGo = keepAlive();
    const stop = (): void => {
      cancelTimer();
      letGo();
      reject(cancelled('Waiting for another attempt'));
    };
    const cancelTimer = clock.setTimer(ms, () => {
      signal?.removeEventListener('abort', stop);
      letGo();
      resolve();
    });
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** An open port keeps the process alive until it is closed. */
function keepAlive(): () => void {
  const { port1 } = new MessageChannel();
  port1.ref();
  return () => port1.close();
}
