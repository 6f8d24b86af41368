import type { SystemEvent } from '../protocol/system-event.ts';
import { PEERS_ID } from './peer-message.ts';

/**
 * Why a card was not taken.
 *
 * - `KNOWN`, `OUTDATED`  the book has it already, or a newer one: usual where many hand on the same cards.
 * - `MALFORMED`          it has not the shape or the sizes of a signed card.
 * - `OWN_NODE`           it is of this node, or says so.
 * - `NOT_ADMITTED`       the owner does not want cards of this key.
 * - `OTHER_KEY`          another key holds this name.
 * - `EXPIRED`, `ISSUED_LATER`, `LIVES_TOO_LONG` its times.
 * - `NODE_FULL`, `PEER_FULL`, `BOOK_FULL` there is no room for more of its node, of the peer that brought it, or at all.
 * - `TOO_MANY`           the peer brings more than are checked in its name.
 * - `FORGED`             its node has not signed it.
 * - `INVALID_CARD`       its node has signed what is no card, or that of another agent.
 */
export const CARD_REFUSALS = [
  'KNOWN',
  'OUTDATED',
  'MALFORMED',
  'OWN_NODE',
  'NOT_ADMITTED',
  'OTHER_KEY',
  'EXPIRED',
  'ISSUED_LATER',
  'LIVES_TOO_LONG',
  'NODE_FULL',
  'PEER_FULL',
  'BOOK_FULL',
  'TOO_MANY',
  'FORGED',
  'INVALID_CARD',
] as const;
export type CardRefusalCode = (typeof CARD_REFUSALS)[number];

/** `peer` has brought it; it need not be the node that the card names. */
export interface CardRefusal {
  readonly code: CardRefusalCode;
  readonly reason: string;
  readonly peer: string;
}

/** The longest reason in an event. */
const MAX_REASON = 1_024;
/** Usual where many hand on the same cards, and where one node trusts whom another does not. */
const USUAL: ReadonlySet<CardRefusalCode> = new Set(['KNOWN', 'NOT_ADMITTED']);
/** They may come late, and from clocks that differ: nobody need mean harm. */
const HARMLESS: ReadonlySet<CardRefusalCode> = new Set(['OUTDATED', 'EXPIRED', 'ISSUED_LATER']);

/** What operators see where something is wrong with a card. */
export const badCardEvent = (reason: string, timestamp: number): SystemEvent => ({
  ...{ type: 'error', timestamp, agentId: PEERS_ID, errorCode: 'INVALID_CARD', success: false, reason },
});

/** What operators see of a card that `from` has handed on, and of `more` like it before; nothing of what is usual. */
export function refusedCardEvent(
  { code, reason }: CardRefusal,
  { more, from, timestamp }: { readonly more: number; readonly from: string; readonly timestamp: number },
): SystemEvent | undefined {
  if (USUAL.has(code)) return undefined;
  const others = more === 0 ? '' : `; ${more} like it before`;
  const what = `a card that ${from} handed on was not taken, ${code}: ${reason.slice(0, MAX_REASON)}${others}`;
  return {
    ...badCardEvent(what, timestamp),
    targetAgentId: from,
    ...(HARMLESS.has(code) ? {} : { security: true }),
  };
}
