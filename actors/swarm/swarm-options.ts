import { z } from 'zod';
import { Milliseconds } from '../../runtime/protocol/milliseconds.ts';

/**
 * The limits of a swarm.
 *
 * - `recruitMs`   how long the answers to its proposals are waited for. @default 5_000
 * - `leaseMs`     how long an agent may keep a sub-task without progress, checkpoint or result. @default 30_000
 * - `graceMs`     how long an agent that lost its assignment is still listened to before its work is cancelled. @default leaseMs
 * - `timeoutMs`   how long the swarm may take. @default as long as somebody makes progress
 * - `maxPerAgent` sub-tasks that one agent has at the same time. @default 1
 * - `maxAssignments` how often one sub-task is assigned before it fails. @default 16
 * - `onFailure`   when a sub-task fails for good: `finish` the others first, or `stop`. @default 'finish'
 */
export const SwarmLimits = z
  .strictObject({
    recruitMs: Milliseconds.default(5_000),
    leaseMs: Milliseconds.default(30_000),
    graceMs: Milliseconds.optional(),
    timeoutMs: Milliseconds.optional(),
    maxPerAgent: z.int().positive().default(1),
    maxAssignments: z.int().positive().default(16),
    onFailure: z.enum(['finish', 'stop']).default('finish'),
  })
  .transform(({ graceMs, ...limits }) => ({ ...limits, graceMs: graceMs ?? limits.leaseMs }));
export type SwarmLimits = z.output<typeof SwarmLimits>;
