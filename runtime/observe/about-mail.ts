import { type Mail, messageTypeOf } from '../mailbox/mail.ts';

/** What every event that is about an envelope says of it. */
export const aboutMail = (mail: Mail) => ({
  envelopeId: mail.id,
  sender: mail.sender,
  recipient: mail.recipient,
  messageType: messageTypeOf(mail),
  ...(mail.correlationId === undefined ? {} : { correlationId: mail.correlationId }),
});
