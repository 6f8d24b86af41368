import { z } from 'zod';

/**
 * An account as later processes know it: its name, and what it was opened with, tokens and millionths of a dollar. Null: it
 * draws on the one above it, or is not limited.
 */
export const FormerAccount = z.readonly(
  z.tuple([z.int().positive(), z.int().nonnegative().nullable(), z.int().nonnegative().nullable()]),
);
export type FormerAccount = z.infer<typeof FormerAccount>;

/** What limits an envelope, the nearest account first, each above the one before it. */
export const JournalledFunds = z.readonly(z.array(FormerAccount).min(1));
export type JournalledFunds = z.infer<typeof JournalledFunds>;
