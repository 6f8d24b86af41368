import { z } from 'zod';

const KIB = 1_024;
const MIB = 1_024 * KIB;
const DAY_MS = 86_400_000;

/**
 * How much of one kind a journal keeps; when any bound is passed the oldest goes.
 *
 * - `maxCount` entries.
 * - `maxBytes` of their texts.
 * - `maxAgeMs` since they were written.
 */
const boundsOf = (maxCount: number, maxBytes: number, maxAgeMs: number) =>
  z
    .strictObject({
      maxCount: z.int().min(16).max(1_000_000).default(maxCount),
      maxBytes: z
        .int()
        .min(64 * KIB)
        .max(1_024 * MIB)
        .default(maxBytes),
      maxAgeMs: z.int().min(1_000).default(maxAgeMs),
    })
    .prefault({});

/**
 * What a journal keeps of what happened, for whoever asks later, also after a restart. Each kind has bounds of its own:
 * `maxCount` entries, `maxBytes` of their texts, `maxAgeMs`.
 *
 * - `traffic`   envelopes of conversations, which `thread()` finds. @default 10_000, 16 MiB, 7 days
 * - `crossings` envelopes that went from one tier to another. @default 5_000, 4 MiB, 30 days
 * - `security`  refusals, and what was declared clean. @default 10_000, 8 MiB, 90 days
 */
export const HistoryOptions = z.strictObject({
  traffic: boundsOf(10_000, 16 * MIB, 7 * DAY_MS),
  crossings: boundsOf(5_000, 4 * MIB, 30 * DAY_MS),
  security: boundsOf(10_000, 8 * MIB, 90 * DAY_MS),
});
export type HistoryOptions = z.input<typeof HistoryOptions>;

/** The options with their defaults. */
export type HistoryLimits = z.output<typeof HistoryOptions>;
export type HistoryBounds = HistoryLimits['traffic'];

export type HistoryKind = keyof HistoryLimits;
export const HISTORY_KINDS: readonly HistoryKind[] = ['traffic', 'crossings', 'security'];

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
