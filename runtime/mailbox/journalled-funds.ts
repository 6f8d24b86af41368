import { z } from 'zod';

/**
 * An account as later processes know it: its name, and the tokens and millionths of a dollar that it was opened with. Null
 * means that it draws on the account above it, or is not limited.
 */
export const FormerAccount = z.readonly(
  z.tuple([z.int().positive(), z.int().nonnegative().nullable(), z.int().nonnegative().nullable()]),
);
export type FormerAccount = z.infer<typeof FormerAccount>;

/** The accounts that limit an envelope: the nearest first, then each one above it. */
export const JournalledFunds = z.readonly(z.array(FormerAccount).min(1));
export type JournalledFunds = z.infer<typeof JournalledFunds>;
