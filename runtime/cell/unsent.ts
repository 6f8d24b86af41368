import type { Mail } from '../mailbox/mail.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import { cancelled, deadlineExceeded, OrreryError, systemStopped } from '../protocol/errors.ts';
import type { Verdict } from '../protocol/policy.ts';
import type { RemoteQuery } from '../routing/remote-lookup.ts';
import type { Handling } from './handling.ts';

/** A table that was asked for is here soon after. */
const TRY_AGAIN_MS = 20;
/** Other nodes are not asked in less. */
const ASK_AGAIN_MS = 100;

/** Room in the mailbox that it is meant for; the table that is on its way; what other nodes say. */
export type WaitsFor = 'room' | 'table' | RemoteQuery;

/**
 * Why an envelope was not sent.
 *
 * - `verdict`  the refusal, where nobody waits, or in vain.
 * - `row`      whom it was meant for, if that is known.
 * - `waitsFor` what it could be sent after; undefined when it is refused for good.
 */
export class Unsent {
  readonly verdict: Verdict;
  readonly row: AgentRow | undefined;
  readonly waitsFor: WaitsFor | undefined;

  constructor(verdict: Verdict, row?: AgentRow, waitsFor?: WaitsFor) {
    this.verdict = verdict;
    this.row = row;
    this.waitsFor = waitsFor;
  }
}

export const noRoom = (row: AgentRow): Unsent =>
  new Unsent(
    {
      code: 'MAILBOX_FULL',
      reason: `Mailbox of ${row.id} is full (capacity ${row.profile.mailboxCapacity})`,
    },
    row,
    'room',
  );

export const stoppedError = ({ recipient }: Mail): OrreryError =>
  systemStopped(`"${recipient}" cannot be reached any more`);

/** What whoever sends without waiting is told: to try again, where that may help. */
export function verdictAtOnce({ verdict, waitsFor }: Unsent, { recipient }: Mail): Verdict {
  if (waitsFor === undefined || waitsFor === 'room') return verdict;
  return waitsFor === 'table'
    ? { code: 'NOT_HERE', reason: `"${recipient}" is not known here yet`, retryAfterMs: TRY_AGAIN_MS }
    : {
        code: 'NOT_HERE',
        reason: `"${recipient}" is not here; other nodes are being asked for it`,
        retryAfterMs: ASK_AGAIN_MS,
      };
}

/** As many envelopes as may already wait until it is known whose mailbox it is. */
export const tooManyWait = ({ recipient }: Mail): Unsent =>
  new Unsent({
    code: 'MAILBOX_FULL',
    reason: `"${recipient}" is not known here yet, and no more envelopes may wait for that`,
  });

/** Why what is sent from `parent` does not wait any longer for what it waits for. */
export function whyNotWait(
  { deadlineAtMs, timestamp, recipient, sender }: Mail,
  { row, waitsFor, verdict }: Unsent,
  parent: Handling | undefined,
  nowMs: number,
): OrreryError | undefined {
  if (parent?.cutShort !== undefined) return parent.cutShort;
  if (parent?.isOver === true) return cancelled(`The work of ${sender}`);
  if (deadlineAtMs === 0 || nowMs < deadlineAtMs) return undefined;
  if (typeof waitsFor === 'object') return new OrreryError(verdict.code, verdict.reason);
  const what = waitsFor === 'room' ? `Room in the mailbox of ${row?.id}` : `The way to ${recipient}`;
  return deadlineExceeded(what, deadlineAtMs - timestamp);
}
