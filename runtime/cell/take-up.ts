import type { Mail, MailExtras } from '../mailbox/mail.ts';
import { definitionHash } from '../protocol/approval.ts';
import type { Capability } from '../protocol/capability.ts';
import { isOrreryError, reasonOf } from '../protocol/errors.ts';
import type { Taint } from '../protocol/taint.ts';
import { tainted } from '../protocol/tool-errors.ts';
import type { ActorLife } from './actor-life.ts';
import { PENDING } from '../agent/pending.ts';
import type { PrivilegedCall } from './interceptor.ts';
import type { Cell } from './cell.ts';
import { handOver } from './cell-taint.ts';
import type { Handling } from './handling.ts';

/**
 * Has the cell's actor handle a mail that has more to it than most: it belongs to a channel, or came from outside. What is
 * returned is as of `ActorLife.handle`.
 *
 * What came from outside reaches a privileged capability only when that is approved, whoever sent it: so nobody can claim
 * that it was.
 */
export function takeUp(cell: Cell, mail: Mail, handling: Handling): unknown {
  const { taint } = mail.extras as MailExtras;
  if (taint === undefined) return handle(cell, mail, handling);
  if (isPrivileged(cell, mail)) return handleIfApproved(cell, mail, handling, taint);
  // What belongs to a channel may not be for this actor: that is known when it is given to a handler.
  if (mail.extras?.channel?.act !== 'data') handOver(cell, mail, taint);
  return handle(cell, mail, handling);
}

/** Says whether what came from outside is to be approved before the agent gets it. */
export const isPrivileged = (cell: Cell, mail: Mail): boolean => declaredFor(cell, mail)?.privileged === true;

const declaredFor = ({ definition }: Cell, { capability }: Mail): Capability | undefined =>
  capability === undefined ? undefined : definition.handlers.get(capability)?.capability;

function handle(cell: Cell, mail: Mail, handling: Handling): unknown {
  return mail.extras?.channel === undefined
    ? (cell.lives.current as ActorLife).handle(mail, handling)
    : cell.thread.channels.handle(cell, mail, handling);
}

async function handleIfApproved(cell: Cell, mail: Mail, handling: Handling, taint: Taint): Promise<unknown> {
  const actor = cell.lives.current;
  // What is declared otherwise by the time that it is approved was not approved: it is asked about anew.
  for (let approved: string | undefined; ; ) {
    const definition = definitionFor(cell, mail);
    if (definition === approved) break;
    await approve(cell, mail, handling, { taint, definition });
    // Cut short or over by now, it is handled no more; another actor is given it anew.
    if (handling.isOver || handling.cutShort !== undefined || cell.lives.current !== actor) return never();
    approved = definition;
  }
  handOver(cell, mail, taint);
  const { thread, row } = cell;
  thread.enter(row.slot);
  try {
    const result = handle(cell, mail, handling);
    return result === PENDING ? never() : result;
  } finally {
    thread.leave();
  }
}

/** How what the mail asks for is declared at the moment; nothing, where it is not there any more and will not be done. */
function definitionFor(cell: Cell, mail: Mail): string {
  const declared = declaredFor(cell, mail);
  return declared === undefined ? '' : definitionHash(declared);
}

/** The handling is ended by whoever else ends it. */
const never = (): Promise<never> => new Promise(() => undefined);

/** Throws TAINTED, which is a security event; and what ends the turn of a task whose owner is asked. */
async function approve(
  cell: Cell,
  mail: Mail,
  handling: Handling,
  { taint, definition }: Pick<PrivilegedCall, 'taint' | 'definition'>,
): Promise<void> {
  const { thread, row } = cell;
  const capability = mail.capability as string;
  let why: string | undefined;
  try {
    why = await thread.interceptors.refusalOf(handling, {
      capability,
      definition,
      input: mail.payload,
      taint,
    });
  } catch (error) {
    if (isOrreryError(error)) throw error;
    why = reasonOf(error);
  }
  if (why === undefined) return;
  const refusal = tainted(capability, taint, why);
  const { code, message: reason } = refusal;
  thread.log.refusal(thread.judge.partyOf(mail.sender), mail, { code, reason }, row);
  throw refusal;
}
