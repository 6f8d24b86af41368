import { readFileSync } from 'node:fs';
import { descendantsOf, type ProcessEntry, processes } from './process-table.ts';

const US_PER_MS = 1_000;
const BYTES_A_KB = 1_024;

/** Processor time of this process with all its threads, and of those below it, which Linux alone tells of. */
export interface CpuTaken {
  readonly allMs: number;
  readonly childMs: number;
}

/**
 * Begins to count; the returned function says what was taken until then. Looking itself is not counted. What a process took
 * that has ended meanwhile is not known.
 */
export function cpuMeter(): () => CpuTaken {
  const before = new Map(children().map((one) => [keyOf(one), one.cpuMs]));
  const own = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(own);
    const childMs = children().reduce((sum, one) => sum + one.cpuMs - (before.get(keyOf(one)) ?? 0), 0);
    return { allMs: (user + system) / US_PER_MS + childMs, childMs };
  };
}

const children = (): readonly ProcessEntry[] => descendantsOf(processes(), process.pid);

const keyOf = ({ pid, startedAt }: ProcessEntry): string => `${pid} ${startedAt}`;

/** What this process and those below it have in memory now. */
export function residentBytes(): number {
  return process.memoryUsage.rss() + children().reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The most that this process and those that are below it now have had in memory, each at its own worst moment. */
export function peakBytes(): number {
  const below = children().reduce((sum, { pid }) => sum + peakOf(pid), 0);
  return process.resourceUsage().maxRSS * BYTES_A_KB + below;
}

function peakOf(pid: number): number {
  try {
    const [, kilobytes = 0] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * BYTES_A_KB;
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}
