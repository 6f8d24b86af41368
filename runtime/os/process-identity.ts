import { readFileSync, readlinkSync } from 'node:fs';
import { z } from 'zod';
import { processAt } from './proc-table.ts';
import { markOf } from './process-family.ts';

/**
 * Which process it is, for certain: numbers are given again, to others, but not with the same start.
 *
 * - `pid`     its number, and that of the process group at whose head it is.
 * - `start`   when it began, in the kernel's own ticks since the machine was started.
 * - `machine` the machine since it was last started, and the namespace of its numbers.
 * - `mark`    by which what it starts is known; absent for one that may start nothing.
 */
export const ProcessIdentity = z.strictObject({
  pid: z.int().positive(),
  start: z.string().min(1),
  machine: z.string().min(1),
  mark: z.string().min(1).optional(),
});
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

/** The process with this number as it is now; undefined when there is none, or the system says nothing of it in `/proc`. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const start = processAt(pid)?.start;
  const machine = thisMachine();
  if (start === undefined || machine === undefined) return undefined;
  const mark = markOf(pid);
  return { pid, start, machine, ...(mark === undefined ? {} : { mark }) };
}

/** That process is there, and has not ended. */
export function isAlive({ pid, start, machine }: ProcessIdentity): boolean {
  const now = processAt(pid);
  return now?.start === start && !now.hasEnded && thisMachine() === machine;
}

/** Names the time since the machine was last started; undefined where the system does not say. */
export function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return undefined;
  }
}

/** The machine since it was last started, with the namespace of its processes' numbers. */
export function thisMachine(): string | undefined {
  try {
    return `${bootId()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}
