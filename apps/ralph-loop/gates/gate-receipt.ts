import { z } from 'zod';

/**
 * The tests that a gate has run, as the test runners' summaries say.
 *
 * - `by` the runners, as in `vitest, pytest`.
 */
export const TestCount = z.strictObject({
  passed: z.int().nonnegative(),
  failed: z.int().nonnegative(),
  skipped: z.int().nonnegative(),
  by: z.string().min(1),
});
export type TestCount = z.infer<typeof TestCount>;

/**
 * What a process that ran a gate has come to.
 *
 * - `gate`       its name.
 * - `command`    as it is shown, without what looks like a secret.
 * - `exitCode`   null if it was ended by `signal` or could not be started.
 * - `timedOut`   it was ended because its time was over.
 * - `tests`      the count that was found in its output.
 * - `logFile`    absolute path of its output; `logBytes` and `logSha256` are of this file.
 * - `tree`       the git tree that it ran on.
 * - `why`        it has passed or failed, in words.
 */
export const GateReceipt = z.strictObject({
  gate: z.string().min(1),
  command: z.string().min(1),
  exitCode: z.int().nullable(),
  signal: z.string().min(1).optional(),
  timedOut: z.boolean(),
  passed: z.boolean(),
  tests: TestCount.optional(),
  durationMs: z.number().nonnegative(),
  logFile: z.string().min(1),
  logBytes: z.int().nonnegative(),
  logSha256: z.string().regex(/^[0-9a-f]{64}$/),
  tree: z.string().min(1).optional(),
  why: z.string().min(1),
});
export type GateReceipt = z.infer<typeof GateReceipt>;
