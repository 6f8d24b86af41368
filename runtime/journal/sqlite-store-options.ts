import { z } from 'zod';

const MIB = 1_024 * 1_024;

/**
 * Where a store on SQLite is, and how much room it takes. Beside the file lie its write-ahead log (`-wal`) while it is
 * open, and after a crash until it is opened again: the two belong together.
 *
 * - `path`        the file; it is made if it is not there, its folder is not.
 * - `maxBytes`    the file does not grow beyond it: what has no room fails with STORE_FAILED until something is settled.
 *                 Without it the disk is the limit.
 * - `walBytes`    so much of the log is collected before it is copied into the file.
 * - `freeBytes`   so much room of what was settled stays in the file to be used again; the rest goes back to the file
 *                 system when there is a quiet second.
 * - `lockWaitMs`  how long opening waits for another process to let go of the file.
 */
export const SqliteStoreOptions = z.strictObject({
  path: z
    .string()
    .min(1, { error: 'a path that is not empty' })
    .refine((path) => !path.includes('\0'), { error: 'a path without NUL' }),
  maxBytes: z.int().min(MIB).optional(),
  walBytes: z
    .int()
    .min(MIB / 16)
    .default(4 * MIB),
  freeBytes: z
    .int()
    .nonnegative()
    .default(8 * MIB),
  lockWaitMs: z.int().min(0).max(60_000).default(0),
});
export type SqliteStoreOptions = z.infer<typeof SqliteStoreOptions>;
