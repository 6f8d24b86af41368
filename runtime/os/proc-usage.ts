import { existsSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';

/** The unit of times in `/proc`, whatever the kernel counts in. */
const TICK_MS = 10;
const KIB = 1_024;
/** Fields of a `stat` file after the name, which ends at the last parenthesis. */
const STATE = 0;
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** What a process uses: processor time since it began, and memory of all kinds that it has now. */
export interface ProcessUsage {
  readonly cpuMs: number;
  readonly residentBytes: number;
}

/** Whether this system says in `/proc` what its processes use. */
export const hasProc = (): boolean => existsSync('/proc/self/stat');

/** What the system says that a process uses; undefined when there is none. */
export function procUsage(pid: number): ProcessUsage | undefined {
  try {
    const { cpuMs } = readStat(`/proc/${pid}/stat`);
    const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
    return {
      cpuMs,
      residentBytes: Number(resident?.[1] ?? 0) * KIB,
    };
  } catch {
    return undefined;
  }
}

/**
 * What the system says of a thread of this process.
 *
 * - `cpuMs`      processor time that it has used.
 * - `isRunnable` it runs, or would if a processor were free: it waits for nothing else.
 */
export interface ThreadUsage {
  readonly cpuMs: number;
  readonly isRunnable: boolean;
}

/** The number by which the system knows the thread that runs this; 0 where it does not say. */
export function ownThreadNumber(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return 0;
  }
}

/** What the system says of the thread that it knows by this number; undefined when there is none, or it does not say. */
export function threadUsage(number: number): ThreadUsage | undefined {
  if (number === 0) return undefined;
  try {
    const { state, cpuMs } = readStat(`/proc/self/task/${number}/stat`);
    return { cpuMs, isRunnable: state === 'R' };
  } catch {
    return undefined;
  }
}

function readStat(file: string): { readonly state: string | undefined; readonly cpuMs: number } {
  const stat = readFileSync(file, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS]);
  return { state: fields[STATE], cpuMs: ticks * TICK_MS };
}

/** Has the kernel end this process before others when the machine runs out of memory. */
export function preferAsVictim(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // Nobody has to allow it.
  }
}
