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
