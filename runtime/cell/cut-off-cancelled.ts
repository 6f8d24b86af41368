import type { Mail } from '../mailbox/mail.ts';
import { STATUS } from '../mailbox/status-words.ts';
import type { Place } from '../thread/place.ts';
import { isCausedBy } from './cancellations.ts';
import { cutOff } from './time-limit.ts';

/** An envelope is cancelled: whatever is in hand here of it, or was caused by it, is cut off, and what comes later is known. */
export function cutOffCancelled(place: Place, envelopeId: string): void {
  const reason = place.cancellations.add(envelopeId);
  const { turns, status } = place;
  turns.watchYoung();
  // The asker may be told in the middle of the handler, which nobody watches yet, and cancel it then.
  const onStack = place.cellOf((status[STATUS.current] as number) - 1);
  if (onStack !== undefined) turns.watch(onStack);
  for (const cell of turns.busy) {
    for (const handling of cell.handlings) {
      if (isCausedBy(handling.mail as Mail, envelopeId)) cutOff(cell, handling, reason);
    }
  }
}
