import { MessageChannel } from 'node:worker_threads';
import { backOffMs } from '../../../runtime/protocol/back-off-ms.ts';
import { cancelled } from '../../../runtime/protocol/errors.ts';
import type { Clock, Random } from '../../../runtime/protocol/seams.ts';
import { sleepUntil } from '../../../runtime/protocol/sleep-until.ts';
import type { ClientSettings } from './client-options.ts';

/**
 * How long to wait after `failures` in a row, in milliseconds: by chance up to half less, so that many who lost the same
 * server do not come back at once. Never before the other side wants.
 */
export const waitMsAfter = (
  failures: number,
  { backoffMs: firstMs, maxBackoffMs: maxMs }: Pick<ClientSettings, 'backoffMs' | 'maxBackoffMs'>,
  random: Random,
  retryAfterMs = 0,
): number => Math.max(retryAfterMs, backOffMs({ firstMs, maxMs, factor: 2, jitter: 0.5 }, failures, random));

/**
 * Waits, and keeps the process alive for as long: timers do not, and who waits for an answer has nothing else open while
 * nothing is asked. Rejects with CANCELLED when `signal` aborts.
 */
export async function wait(
  ms: number,
  clock: Pick<Clock, 'setTimer'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const letGo = keepAlive();
  try {
    await sleepUntil(clock, ms, signal);
  } catch {
    throw cancelled('Waiting for another attempt');
  } finally {
    letGo();
  }
}

/** An open port keeps the process alive until it is closed. */
function keepAlive(): () => void {
  const { port1 } = new MessageChannel();
  port1.ref();
  return () => port1.close();
}
