import { type Mail, messageTypeOf } from '../mailbox/mail.ts';
import type { AgentTier } from '../protocol/agent-card.ts';
import type { Party } from '../protocol/policy.ts';

/** The fields that every event about an envelope has. */
export const aboutMail = (mail: Mail) => ({
  envelopeId: mail.id,
  sender: mail.sender,
  recipient: mail.recipient,
  messageType: messageTypeOf(mail),
  ...(mail.correlationId === undefined ? {} : { correlationId: mail.correlationId }),
});

/** The tiers of both ends, of those that are known and have one. */
export const tiersOf = (
  source: Party | undefined,
  target: Party | undefined,
): { readonly sourceTier?: AgentTier; readonly targetTier?: AgentTier } => ({
  ...(source === undefined || source.isSystem ? {} : { sourceTier: source.tier }),
  ...(target === undefined || target.isSystem ? {} : { targetTier: target.tier }),
});
