import type { Mail } from '../mailbox/mail.ts';
import { invalidOptions } from '../protocol/errors.ts';
import { requireText } from '../protocol/parse-options.ts';
import { mergeTaint, type Taint } from '../protocol/taint.ts';
import type { Cell } from './cell.ts';

/* What an agent has in it of what came from outside: its actor, and each envelope while it is in hand. */

/** What is on everything that is sent and answered while `mail` is in hand; without one, on whatever the actor does. */
export function taintOn({ lives }: Cell, mail: Mail | undefined): Taint | undefined {
  const { taint } = lives;
  return taint === undefined ? mail?.workTaint : mergeTaint(taint, mail?.workTaint);
}

/** The work at `mail` was given something: so was the actor, and its state may hold it from now on. */
export function takeIn(cell: Cell, mail: Mail | undefined, taint: Taint): void {
  // What the work has of its own is known: the actor has it too, or it is not to have it before that is approved.
  const known = taintOn(cell, mail);
  if (mergeTaint(known, taint) !== known) handOver(cell, mail, taint);
}

/** The same of what the work has of its own: from here on the actor has it too. */
export function handOver({ lives, row }: Cell, mail: Mail | undefined, taint: Taint): void {
  // The embedder is told where an answer came from, and decides for itself; but what it answers to has it still.
  if (!row.party.isSystem) lives.taint = mergeTaint(lives.taint, taint);
  if (mail !== undefined) mail.workTaint = mergeTaint(mail.workTaint, taint);
}

/** What interceptors take in the agent has; also the actor that follows one which is over, or not there yet. */
export function takeInAtClient(cell: Cell, taint: Taint): void {
  const { lives, row, status } = cell;
  takeIn(cell, undefined, taint);
  if (status !== 'running' && !row.party.isSystem) lives.nextTaint = mergeTaint(lives.nextTaint, taint);
}

/**
 * Neither the work at `mail` nor the actor's state has anything of it any more; what other work in hand has of it, that keeps.
 * It is told to the control thread, so that the thread's death does not undo what is known of it.
 */
export function declareClean(cell: Cell, mail: Mail | undefined, reason: string): void {
  requireText('reason', reason);
  const { lives, row, thread } = cell;
  const taint = taintOn(cell, mail);
  if (taint === undefined) return;
  if (mail !== undefined) mail.workTaint = undefined;
  lives.taint = cell.handlings.reduce<Taint | undefined>(
    (kept, other) => mergeTaint(kept, other.mail?.workTaint),
    undefined,
  );
  thread.log.declaredClean(row.id, mail, taint, reason);
}

/** Throws INVALID_OPTIONS on what names no source. */
export function requireSource(source: string): string {
  if (typeof source !== 'string' || source === '')
    throw invalidOptions('source', source, 'the name of where it came from, such as web:example.org');
  return source;
}
