import type { Mail } from '../mailbox/mail.ts';
import { deadlineExceeded, type OrreryError, withoutStack } from '../protocol/errors.ts';
import type { Cell } from './cell.ts';
import type { Handling } from './handling.ts';

/** On a machine with other work to do, what an agent fetches and compiles to start takes many times as long. */
export const DEFAULT_START_MS = 30_000;
export const DEFAULT_STOP_MS = 1_000;

/** How long a handler may take to notice that its time is up before its actor is ended. */
const GRACE_MS = 100;

/** Watches over a handler that takes longer than a turn: it has until the deadline of its envelope, or its agent's. */
export function watchTime(cell: Cell, handling: Handling): void {
  const { thread, row } = cell;
  handling.isWatched = true;
  const mail = handling.mail as Mail;
  const now = thread.seams.clock.now();
  const untilMs = mail.deadlineAtMs > 0 ? mail.deadlineAtMs : now + cell.handlingTimeoutMs;
  handling.timer = thread.wheel.add(untilMs, () => {
    cutOff(cell, handling, deadlineExceeded(`The handling of ${mail.id} by ${row.id}`, untilMs - now));
  });
}

/** Tells a handler that its time is over; ends its actor if it does not listen. One that is done had time enough. */
export function cutOff(cell: Cell, handling: Handling, reason: OrreryError): void {
  if (handling.isOver || handling.isDone) return;
  handling.cutOff(reason);
  handling.timer?.cancel();
  handling.timer = cell.thread.wheel.add(cell.thread.seams.clock.now() + GRACE_MS, () => {
    if (handling.isOver || handling.isDone) return;
    cell.crash(withoutStack(new Error(`it did not stop ${GRACE_MS} ms after ${reason.message}`)), handling);
  });
}
