import type { TellOptions } from '../agent/context.ts';
import { PENDING } from '../agent/pending.ts';
import type { Mail, MailExtras } from '../mailbox/mail.ts';
import { definitionHash } from '../protocol/approval.ts';
import type { Capability } from '../protocol/capability.ts';
import { invalidOptions, isOrreryError, reasonOf } from '../protocol/errors.ts';
import { requireText } from '../protocol/parse-options.ts';
import { taintFrom } from '../protocol/taint-from.ts';
import { mergeTaint, type Taint } from '../protocol/taint.ts';
import { tainted } from '../protocol/tool-errors.ts';
import type { ActorLife } from './actor-life.ts';
import type { Cell } from './cell.ts';
import type { Handling } from './handling.ts';
import type { PrivilegedCall } from './interceptor.ts';

/**
 * What can hold what an agent was told, whatever becomes of its actors: its thread, as long as that lives, by the variables of
 * its modules and what is held for it in its thread; or its process.
 *
 * - `taint` where that came from outside.
 */
export interface AgentMemory {
  taint: Taint | undefined;
}

/** The memories of the agents of one thread, by their ids: also one that was removed and is back goes on with its own. */
export class AgentMemories {
  readonly #byAgent = new Map<string, AgentMemory>();

  of(agentId: string): AgentMemory {
    const known = this.#byAgent.get(agentId);
    if (known !== undefined) return known;
    const made: AgentMemory = { taint: undefined };
    this.#byAgent.set(agentId, made);
    return made;
  }
}

/* What an agent has in it of what came from outside: its actor, and each envelope while it is in hand. */

/** What is on everything that is sent and answered while `mail` is in hand; without one, on whatever the actor does. */
export function taintOn({ lives }: Cell, mail: Mail | undefined): Taint | undefined {
  const { taint } = lives;
  return taint === undefined ? mail?.workTaint : mergeTaint(taint, mail?.workTaint);
}

/** What is sent from tainted work has its taint, `inherited`, whatever its sender says: the sender may only add to it. */
export function inheritTaint(mail: Mail, added: TellOptions['taint'], inherited: Taint | undefined): void {
  if (inherited === undefined && added === undefined) return;
  const taint = mergeTaint(inherited, added && taintFrom(added));
  if (taint !== undefined) mail.extras = { ...mail.extras, taint };
}

/** The work at `mail` was given something: so was the actor, and its state may hold it from now on. */
export function absorbTaint(cell: Cell, mail: Mail | undefined, taint: Taint): void {
  // What the work has of its own is known: the actor has it too, or it is not to have it before that is approved.
  const known = taintOn(cell, mail);
  if (mergeTaint(known, taint) !== known) handOver(cell, mail, taint);
}

/** The same of what the work has of its own: from here on the actor has it too. */
export function handOver(cell: Cell, mail: Mail | undefined, taint: Taint): void {
  const { lives, row } = cell;
  const { concurrency, isRelay, keepsTaintApart } = cell.definition;
  if (mail !== undefined) mail.workTaint = mergeTaint(mail.workTaint, taint);
  if (keepsTaintApart && mail !== undefined) return;
  // The embedder is told where an answer came from, and decides for itself; but what it answers to has it still.
  if (!row.party.isSystem) lives.taint = mergeTaint(lives.taint, taint);
  // Nothing that is passed on is declared clean here: the actor's own taint says it all.
  if (row.party.isSystem || concurrency === 1 || isRelay) return;
  // What runs beside it reads the same state.
  for (const { mail: other } of cell.handlings)
    if (other !== undefined && other !== mail) other.workTaint = mergeTaint(other.workTaint, taint);
}

/** What is begun on beside other work shares the actor's state with it: what that has is on this too, until it is declared clean. */
export function beginBeside({ lives }: Cell, mail: Mail): void {
  mail.workTaint = mergeTaint(mail.workTaint, lives.taint);
}

/** What interceptors take in the agent has; also the actor that follows one which is over, or not there yet. */
export function absorbAtClient(cell: Cell, taint: Taint): void {
  const { lives, row, status } = cell;
  absorbTaint(cell, undefined, taint);
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

/**
 * Has the cell's actor handle a mail that has more to it than most: it belongs to a channel, or came from outside. What is
 * returned is as of `ActorLife.handle`.
 *
 * What came from outside reaches a privileged capability only when that is approved, whoever sent it: so nobody can claim
 * that it was.
 */
export function dispatch(cell: Cell, mail: Mail, handling: Handling): unknown {
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
  thread.running.enter(row.slot);
  try {
    const result = handle(cell, mail, handling);
    return result === PENDING ? never() : result;
  } finally {
    thread.running.leave();
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
