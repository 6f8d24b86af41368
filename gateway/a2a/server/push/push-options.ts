import { z } from 'zod';
import { Milliseconds } from '../../../../runtime/protocol/milliseconds.ts';
import { ForeignUrlRules } from '../../../reach/foreign-url.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * Whom a gateway tells of tasks, and how hard it tries.
 *
 * - `targets`    which receivers may be posted to. @default public addresses, over https
 * - `ofTask`     how many configs one task may have. @default 10
 * - `ofOwner`    how many one owner may have. @default 1,000
 * - `most`       how many there may be. @default 20,000
 * - `atOnce`     how many are posted to at once. @default 256
 * - `atOnceEach` of these, to one host, and for one owner. @default 8
 * - `timeoutMs`  for one attempt. @default 10,000
 * - `attempts`   at one piece of news. @default 20
 * - `ageMs`      how long after its first failure a receiver is still asked. @default 24 hours
 * - `firstMs`    the first wait before another attempt. @default 1,000
 * - `longestMs`  the longest one. @default an hour
 */
export const PushOptions = z.strictObject({
  targets: ForeignUrlRules.prefault({}),
  ofTask: z.int().positive().default(10),
  ofOwner: z.int().positive().default(1_000),
  most: z.int().positive().default(20_000),
  atOnce: z.int().positive().default(256),
  atOnceEach: z.int().positive().default(8),
  timeoutMs: Milliseconds.default(10_000),
  attempts: z.int().positive().default(20),
  ageMs: z.number().positive().default(DAY_MS),
  firstMs: Milliseconds.default(1_000),
  longestMs: Milliseconds.default(DAY_MS / 24),
});
export type PushOptions = z.input<typeof PushOptions>;
export type ParsedPushOptions = z.output<typeof PushOptions>;
