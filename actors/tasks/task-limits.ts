import { z } from 'zod';

const DAY_MS = 24 * 60 * 60 * 1_000;
const MIB = 1024 * 1024;

/**
 * - `ttlMs`       how long a task is kept when it is over. @default 24 hours
 * - `tasks`       how many an owner may have; those over make room. @default 1,000
 * - `tenantTasks` how many all owners of a tenant may have together; those over make room, whoever's they are. @default 10,000
 * - `totalTasks`  how many there may be in all; those over make room, whoever's they are. @default 100,000
 * - `waiting`     how many messages may wait for a task's agent. @default 16
 * - `bytes`       how much of one task may be held, about: what was said, what was made, and what its agent remembers.
 *                 @default 64 MiB
 * - `ownerBytes`  how much of all tasks of an owner may be held; those over make room. @default 256 MiB
 * - `totalBytes`  how much of all tasks may be held; those over make room, whoever's they are. @default 1 GiB
 * - `turns`       how many turns go on at once, over all tasks. @default 256
 */
export const TaskLimits = z.strictObject({
  ttlMs: z.number().positive().default(DAY_MS),
  tasks: z.int().positive().default(1_000),
  tenantTasks: z.int().positive().default(10_000),
  waiting: z.int().positive().default(16),
  totalTasks: z.int().positive().default(100_000),
  bytes: z
    .int()
    .positive()
    .default(64 * MIB),
  ownerBytes: z
    .int()
    .positive()
    .default(256 * MIB),
  totalBytes: z
    .int()
    .positive()
    .default(1024 * MIB),
  turns: z.int().positive().default(256),
});
export type TaskLimits = z.input<typeof TaskLimits>;
export type ParsedTaskLimits = z.output<typeof TaskLimits>;
