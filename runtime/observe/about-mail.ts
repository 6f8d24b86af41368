import { type Mail, messageTypeOf } from '../mailbox/mail.ts';

/** The fields that every event about an envelope has. */
export const aboutMail = (mail: Mail) => ({
  envelopeId: mail.id,
  sender: mail.sender,
  recipient: mail.recipient,
  messageType: messageTypeOf(mail),
  ...(mail.correlationId === undefined ? {} : { correlationId: mail.correlationId }),
});
