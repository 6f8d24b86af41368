import type { Mail } from '../mailbox/mail.ts';
import { cancelled, deadlineExceeded, OrreryError, systemStopped } from '../protocol/errors.ts';
import type { Verdict } from '../protocol/policy.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import type { Handling } from './handling.ts';
import type { Identity } from './identity.ts';

/** A table that was asked for is here soon after. */
const TRY_AGAIN_MS = 20;
/** Other nodes are not asked in less. */
const ASK_AGAIN_MS = 100;

export const verdictOf = (error: OrreryError): Verdict => ({ code: error.code, reason: error.message });

export const fullVerdict = (row: AgentRow): Verdict => ({
  code: 'MAILBOX_FULL',
  reason: `Mailbox of ${row.id} is full (capacity ${row.profile.mailboxCapacity})`,
});

/** The table of this thread is about to be replaced: who sends without waiting is told to try again. */
export const unknownYet = ({ recipient }: Mail): Verdict => ({
  code: 'NOT_HERE',
  reason: `"${recipient}" is not known here yet`,
  retryAfterMs: TRY_AGAIN_MS,
});

/** Other nodes are being asked for it: who sends without waiting is told to try again. */
export const lookedUp = ({ recipient }: Mail): Verdict => ({
  code: 'NOT_HERE',
  reason: `"${recipient}" is not here; other nodes are being asked for it`,
  retryAfterMs: ASK_AGAIN_MS,
});

/** As many envelopes as may already wait until it is known whose mailbox it is. */
export const heldVerdict = ({ recipient }: Mail): Verdict => ({
  code: 'MAILBOX_FULL',
  reason: `"${recipient}" is not known here yet, and no more envelopes may wait for that`,
});

export const stoppedError = ({ recipient }: Mail): OrreryError =>
  systemStopped(`"${recipient}" cannot be reached any more`);

/** Nobody here is meant so far, and the table that may have somebody is on its way. */
export const isYetToCome = (
  meant: AgentRow | undefined,
  { isBehind }: { readonly isBehind: boolean },
): boolean => meant === undefined && isBehind;

/** An answer, what an envelope in hand causes, and what an actor needs to begin or to end. */
export const isUnderWay = ({ extras }: Mail, parent: Handling | undefined): boolean =>
  extras?.inReplyTo !== undefined ||
  (parent !== undefined && (parent.mail !== undefined || parent.cell.status !== 'running'));

/**
 * Why what is to be sent does not wait any longer: for room in the mailbox of `row`, for a table that has one, or for what
 * other nodes say. `unknown`: what it is refused with if they have said nothing by its deadline.
 */
export function whyNotWait(
  { id }: Identity,
  { deadlineAtMs, timestamp, recipient }: Mail,
  {
    row,
    unknown,
    parent,
    nowMs,
  }: {
    readonly row: AgentRow | undefined;
    readonly unknown: Verdict | undefined;
    readonly parent: Handling | undefined;
    readonly nowMs: number;
  },
): OrreryError | undefined {
  if (parent?.cutShort !== undefined) return parent.cutShort;
  if (parent?.isOver === true) return cancelled(`The work of ${id}`);
  if (deadlineAtMs === 0 || nowMs < deadlineAtMs) return undefined;
  if (unknown !== undefined) return new OrreryError(unknown.code, unknown.reason);
  const what = row === undefined ? `The way to ${recipient}` : `Room in the mailbox of ${row.id}`;
  return deadlineExceeded(what, deadlineAtMs - timestamp);
}
