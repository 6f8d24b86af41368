import { z } from 'zod';
import type { SignedCard } from './signed-card.ts';

const MARK_CHARACTERS = 22;

/**
 * Which of two cards of one agent is the newer one. `mark` is the beginning of the signature: it decides between different cards
 * that a node has given the same numbers, so that all nodes keep the same one.
 */
export const CardVersion = z.strictObject({
  bootEpoch: z.int().nonnegative(),
  revision: z.int().nonnegative(),
  issuedAtMs: z.int().nonnegative(),
  mark: z.string().length(MARK_CHARACTERS),
});
export type CardVersion = z.infer<typeof CardVersion>;

export const versionOf = ({ bootEpoch, revision, issuedAtMs, signature }: SignedCard): CardVersion => ({
  bootEpoch,
  revision,
  issuedAtMs,
  mark: signature.slice(0, MARK_CHARACTERS),
});

/** Above 0 if the first is newer, 0 if both are the same, below 0 else. */
export function compareVersions(one: CardVersion, other: CardVersion): number {
  return (
    one.bootEpoch - other.bootEpoch ||
    one.revision - other.revision ||
    one.issuedAtMs - other.issuedAtMs ||
    (one.mark < other.mark ? -1 : Number(one.mark > other.mark))
  );
}
