import { z } from 'zod';
import { HistoryOptions } from './history-options.ts';

/**
 * Where a system keeps what must outlive its process.
 *
 * - `path`    of a file that is made if it is not there; others stand beside it while it is open. One system at a time.
 * - `durable` whose mailboxes are kept: those of agents that say so (`durable: true`), or of all that do not say
 *             otherwise. @default 'declared'
 * - `history` how much it keeps of what happened, conversations and security events; `false`: nothing. @default bounded
 */
export const JournalOptions = z.strictObject({
  path: z.string().min(1),
  durable: z.enum(['declared', 'all']).default('declared'),
  history: z.union([HistoryOptions, z.literal(false)]).prefault({}),
});
export type JournalOptions = z.input<typeof JournalOptions>;
