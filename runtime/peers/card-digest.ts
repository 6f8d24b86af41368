import { z } from 'zod';
import { CardVersion } from './card-version.ts';
import { PublicKey } from './signed-card.ts';

/** The most cards that a digest names, or that an answer to it brings. */
export const MAX_PAGE_CARDS = 1_000;

/** `<nodeId>/<agentId>`: the name of a card in a book, and a place in the order of all names by their code units. */
export const CardName = z.string().min(3).max(1_153);

/** The place before all names. */
const START = '';

/**
 * Which cards a book has in one part of the order: the other one answers with those that are missing or older.
 *
 * - `after`   the part begins behind this name. Absent: with the first.
 * - `through` it ends with this name. Absent: with the last.
 */
export const CardDigest = z.strictObject({
  after: CardName.optional(),
  through: CardName.optional(),
  cards: z.array(CardVersion.extend({ name: CardName, publicKey: PublicKey })).max(MAX_PAGE_CARDS),
});
export type CardDigest = z.infer<typeof CardDigest>;

/**
 * What a digest has not. Each card is checked when a book takes it, so here it is any value.
 *
 * - `through` how far the answer goes; the next digest begins there. Absent: to the end, and nothing is left to ask for.
 */
export const CardAnswer = z.strictObject({
  cards: z.array(z.unknown()).max(MAX_PAGE_CARDS),
  through: CardName.optional(),
});
export type CardAnswer = z.infer<typeof CardAnswer>;

/**
 * Where the next digest begins; undefined when there is none to ask. A peer whose answers go back, further than it was asked, or
 * stop for no card is not asked again. One that gives a card each time can go on for long: who asks bounds how often it does.
 */
export function nextAfter(digest: CardDigest, { cards, through }: CardAnswer): string | undefined {
  if (through === undefined || through <= (digest.after ?? START)) return undefined;
  if (through === digest.through) return through;
  const isWithin = digest.through === undefined || through < digest.through;
  return isWithin && cards.length > 0 ? through : undefined;
}
