import { z } from 'zod';

const Above0 = z.int().positive();

/**
 * The limits of a sync channel.
 *
 * - `maxUpdateBytes`      of one update. @default 1 MiB
 * - `maxStateBytes`       of a state that stands in for missing updates. @default 64 MiB
 * - `maxPresenceBytes`    of one awareness state. @default 16 KiB
 * - `maxGapMessages`      updates of one source that wait for others. @default 256
 * - `maxGapBytes`         their payloads together. @default 4 MiB
 * - `gapTimeoutMs`        how long one waits until the missing part is asked for, and between askings. @default 2_000
 * - `joinTimeoutMs`       how long opening waits for another member's state. @default 1_000
 * - `heartbeatMs`         between signs of life. @default 10_000
 * - `silentAfterMs`       without one, a member's awareness state is removed. @default 30_000
 * - `compactAfterUpdates` updates in the log before a snapshot takes their place. @default 500
 * - `compactAfterBytes`   the same in bytes. @default 4 MiB
 */
export const SyncLimits = z.strictObject({
  maxUpdateBytes: Above0.default(1 << 20),
  maxStateBytes: Above0.default(64 << 20),
  maxPresenceBytes: Above0.default(16 << 10),
  maxGapMessages: Above0.default(256),
  maxGapBytes: Above0.default(4 << 20),
  gapTimeoutMs: Above0.default(2_000),
  joinTimeoutMs: Above0.default(1_000),
  heartbeatMs: Above0.default(10_000),
  silentAfterMs: Above0.default(30_000),
  compactAfterUpdates: Above0.default(500),
  compactAfterBytes: Above0.default(4 << 20),
});
export type SyncLimits = z.output<typeof SyncLimits>;
