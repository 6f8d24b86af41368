import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { ProcessUsage } from './process-spawner.ts';

/** The unit of times in `/proc`, whatever the kernel counts in. */
const TICK_MS = 10;
const KIB = 1_024;
/** Fields of `/proc/PID/stat` after the name, which ends at the last parenthesis. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** Whether this system says in `/proc` what its processes use. */
export const hasProc = (): boolean => existsSync('/proc/self/stat');

/** What the system says that a process uses; undefined when there is none. */
export function procUsage(pid: number): ProcessUsage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
    return {
      cpuMs: (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * TICK_MS,
      residentBytes: Number(resident?.[1] ?? 0) * KIB,
    };
  } catch {
    return undefined;
  }
}

/** Has the kernel end this process before any other, when the machine runs out of memory. */
export function preferAsVictim(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // Nobody has to allow it.
  }
}
