import { MAX_ATTEMPTS } from '../mailbox/attempts.ts';
import { type Mail, messageTypeOf } from '../mailbox/mail.ts';
import {
  actorDied,
  deadlineExceeded,
  errorToData,
  errorWithStack,
  handlerFailed,
  outsiderRefused,
  poison,
} from '../protocol/errors.ts';
import type { Taint } from '../protocol/taint.ts';
import type { Cell } from './cell.ts';
import type { CellMailbox } from './cell-mailbox.ts';

/** Says whether a mail is tried again that a death has cut off, or over which its handler threw. */
export const mayTryAgain = (cell: Cell, mail: Mail): boolean =>
  cell.isRetry(mail) && mail.attempts < MAX_ATTEMPTS;

/** `taint`: where what the reason says came from outside. */
export interface Death {
  readonly reason: string;
  readonly cause?: unknown;
  readonly taint?: Taint | undefined;
}

/** How the handling of an envelope ended without an outcome; `isThrown`: its own handler threw `cause`. */
interface CutOff extends Death {
  readonly isThrown?: boolean;
}

/** What a death has cut off, or over which its handler threw, goes back into the mailbox, in front, or ends. */
export function tryAgainOrEnd(
  cell: Cell,
  mailbox: CellMailbox,
  mail: Mail,
  { reason, cause, taint, isThrown = false }: CutOff,
): void {
  const { id } = cell.row;
  if (mayTryAgain(cell, mail)) {
    cell.outcomes.startOver(mail);
    return mailbox.putBack(mail);
  }
  const ended = isThrown ? handlerFailed : actorDied;
  const why = cell.isRetry(mail) ? poison(id, mail.attempts, { reason, cause }) : ended(id, reason, cause);
  cell.outcomes.deadLetter(mail, { ...errorWithStack(why), ...(taint && { taint }) });
}

/** Ends an envelope that must not be handled any more; false when it may be. */
export function turnAway(cell: Cell, mail: Mail): boolean {
  const { thread, outcomes, row } = cell;
  const { deadlineAtMs } = mail;
  const cancellation = thread.cancellations.reasonFor(mail);
  if (mail.tombstone !== undefined) outcomes.deadLetter(mail, mail.tombstone);
  else if (mail.attempts >= MAX_ATTEMPTS)
    outcomes.deadLetter(mail, errorToData(poison(row.id, mail.attempts)));
  else if (deadlineAtMs > 0 && deadlineAtMs <= thread.turns.nowMs) {
    const what = `${messageTypeOf(mail)} ${mail.id} to ${row.id}`;
    outcomes.close(mail, 'expired', deadlineExceeded(what, deadlineAtMs - mail.timestamp));
  } else if (cancellation !== undefined) outcomes.close(mail, 'expired', cancellation);
  // What a sender's second attempt sent again was handled the first time.
  else if (mail.extras?.derived === true && !mail.wasInHand && outcomes.settleRepeated(mail)) return true;
  else {
    const refusedForMs = refusalOf(cell, mail);
    if (refusedForMs === undefined) return false;
    outcomes.close(mail, 'rejected', outsiderRefused(row.id, refusedForMs));
  }
  return true;
}

/** For how much longer whoever outside caused the envelope is refused; undefined when they are not. */
export function refusalOf({ refusals, thread }: Cell, { extras }: Mail): number | undefined {
  if (refusals === undefined || extras?.outsider === undefined) return undefined;
  return refusals.leftMs(extras.outsider.key, thread.seams.clock.monotonicMs());
}
