import { z } from 'zod';

/**
 * Where a system keeps what must outlive its process.
 *
 * - `path`    of a file that is made if it is not there; others stand beside it while it is open. One system at a time.
 * - `durable` whose mailboxes are kept: those of agents that say so (`durable: true`), or of all that do not say
 *             otherwise. @default 'declared'
 */
export const JournalOptions = z.strictObject({
  path: z.string().min(1),
  durable: z.enum(['declared', 'all']).default('declared'),
});
export type JournalOptions = z.input<typeof JournalOptions>;
