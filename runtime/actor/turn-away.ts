import { type Mail, messageTypeOf } from '../mailbox/mail.ts';
import { deadlineExceeded, errorToData, poison } from '../protocol/errors.ts';
import type { Cell } from './cell.ts';

/** Tries that end in a death before an envelope is poison. */
export const MAX_ATTEMPTS = 3;

/** Ends an envelope that must not be handled any more; false when it may be. */
export function turnAway({ place, outcomes, row }: Cell, mail: Mail): boolean {
  const { deadlineAtMs } = mail;
  const cancellation = place.cancellations.reasonFor(mail);
  if (mail.tombstone !== undefined) outcomes.deadLetter(mail, mail.tombstone);
  else if (mail.attempts >= MAX_ATTEMPTS)
    outcomes.deadLetter(mail, errorToData(poison(row.id, mail.attempts)));
  else if (deadlineAtMs > 0 && deadlineAtMs <= place.turns.nowMs) {
    const what = `${messageTypeOf(mail)} ${mail.id} to ${row.id}`;
    outcomes.close(mail, 'expired', deadlineExceeded(what, deadlineAtMs - mail.timestamp));
  } else if (cancellation !== undefined) outcomes.close(mail, 'expired', cancellation);
  // What a sender's second attempt sent again was handled the first time.
  else return mail.extras?.derived === true && !mail.wasInHand && outcomes.settleRepeated(mail);
  return true;
}
