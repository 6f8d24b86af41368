import { type Mail, type MailData, mailToData } from '../mailbox/mail.ts';
import { errorToData, notSerialisable } from '../protocol/errors.ts';
import type { ReplicatedMail } from './outbox.ts';

/** A second copy of a mail, as it crosses to the control thread. */
export interface MailCopy {
  readonly incarnation: number;
  readonly flow: number;
  readonly mail: MailData;
}

/** Has `send` post copies of these mails. A mail that cannot be copied could not cross to another thread either, and ends. */
export function sendCopies(
  kept: readonly ReplicatedMail[],
  send: (copies: readonly MailCopy[]) => void,
): void {
  try {
    send(kept.map(copyOf));
  } catch {
    for (const { mail } of kept) refuseUncloneable(mail);
    send(kept.map(copyOf));
  }
}

const copyOf = ({ incarnation, flow, mail }: ReplicatedMail): MailCopy => ({
  incarnation,
  flow,
  mail: mailToData(mail),
});

function refuseUncloneable(mail: Mail): void {
  try {
    structuredClone(mail.payload);
  } catch (error) {
    mail.tombstone = errorToData(notSerialisable('payload', (error as Error).message));
    mail.payload = null;
  }
}
