import type { Mail } from '../mailbox/mail.ts';
import { type OrreryError, systemStopped } from '../protocol/errors.ts';
import type { Verdict } from '../protocol/policy.ts';
import type { AgentRow } from '../routing/routing-table.ts';

/** A table that was asked for is here soon after. */
const TRY_AGAIN_MS = 20;

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

/** As many envelopes as may already wait until it is known whose mailbox it is. */
export const heldVerdict = ({ recipient }: Mail): Verdict => ({
  code: 'MAILBOX_FULL',
  reason: `"${recipient}" is not known here yet, and no more envelopes may wait for that`,
});

export const stoppedError = ({ recipient }: Mail): OrreryError =>
  systemStopped(`"${recipient}" cannot be reached any more`);
