import { MessageChannel } from 'node:worker_threads';
import { backOffMs } from '../../../runtime/protocol/back-off-ms.ts';
import { cancelled } from '../../../runtime/protocol/errors.ts';
import type { Clock, Random } from '../../../runtime/protocol/seams.ts';
import { sleepUntil } from '../../../runtime/protocol/sleep-until.ts';
import type { ClientSettings } from './client-options.ts';

/**
 * How long to wait after `failures` in a row, in milliseconds. Chance shortens it by up to a half, so that many clients of one
 * server do not return at once. It is never shorter than the other side asks for.
 */
export const waitMsAfter = (
  failures: number,
  { backoffMs: firstMs, maxBackoffMs: maxMs }: Pick<ClientSettings, 'backoffMs' | 'maxBackoffMs'>,
  random: Random,
  retryAfterMs = 0,
): number => Math.max(retryAfterMs, backOffMs({ firstMs, maxMs, factor: 2, jitter: 0.5 }, failures, random));

/**
 * Waits, and keeps the process alive meanwhile: timers do not, and between two calls nothing else is open. Rejects with CANCELLED
 * when `signal` aborts.
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
