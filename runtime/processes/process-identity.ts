import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { z } from 'zod';

/**
 * Which process it is, for certain: numbers are given again, to others, but not with the same start.
 *
 * - `pid`     its number, and that of the process group at whose head it is.
 * - `start`   when it began, in the kernel's own ticks since the machine was started.
 * - `machine` the machine since it was last started, and the namespace of its numbers.
 */
export const ProcessIdentity = z.strictObject({
  pid: z.int().positive(),
  start: z.string().min(1),
  machine: z.string().min(1),
});
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

/** Fields of `/proc/PID/stat` after the name, which ends at the last parenthesis. */
const STATE = 0;
const GROUP = 2;
const START = 19;
/** It has ended, and only waits to be noticed. */
const ENDED = 'ZX';

/** The process with this number as it is now; undefined when there is none, or the system says nothing of it in `/proc`. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const start = statOf(pid)?.[START];
  const machine = thisMachine();
  return start === undefined || machine === undefined ? undefined : { pid, start, machine };
}

/** That process is there, and has not ended. */
export function isAlive({ pid, start, machine }: ProcessIdentity): boolean {
  const stat = statOf(pid);
  return stat?.[START] === start && !hasEnded(stat) && thisMachine() === machine;
}

/** The numbers of those that are in the process group and have not ended. */
export function membersOf(group: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const stat = statOf(pid);
      return stat?.[GROUP] === String(group) && !hasEnded(stat);
    });
}

const hasEnded = (stat: readonly string[]): boolean => ENDED.includes(stat[STATE] as string);

/** Names the time since the machine was last started; undefined where the system does not say. */
export function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return undefined;
  }
}

function thisMachine(): string | undefined {
  try {
    return `${bootId()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

function statOf(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
