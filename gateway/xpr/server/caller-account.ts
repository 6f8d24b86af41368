import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { SenderFacts } from '../../a2a/server/sender-facts.ts';
import type { XprSendOrder } from './xpr-params.ts';

const PREFIX = 'xpr:';

/**
 * Who sent a message, as its metadata says it. An account that was proved is the caller's, whatever the request says;
 * one that a sender claims who has proved nothing stands under another name, so that nobody takes it for proved.
 */
export function senderFacts(
  { claimedAccount }: Pick<XprSendOrder, 'claimedAccount'>,
  principal: Principal,
): SenderFacts {
  if (principal.id.startsWith(PREFIX)) return { 'xpr:callerAccount': principal.id.slice(PREFIX.length) };
  if (principal.kind !== 'anonymous' || claimedAccount === undefined) return {};
  return { 'xpr:claimedAccount': claimedAccount };
}
