import { readdirSync, readFileSync } from 'node:fs';

const MS_PER_TICK = 10;
const BYTES_A_PAGE = 4_096;

/** A process as `/proc` tells of it; Linux alone does. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly startedAt: number;
  readonly cpuMs: number;
  readonly bytes: number;
}

/** All processes, in the order in which they were started; none where nothing tells of them. */
export function processes(): ProcessEntry[] {
  return pids()
    .flatMap((pid) => processIn(pid) ?? [])
    .sort((a, b) => a.startedAt - b.startedAt || a.pid - b.pid);
}

/** Those of `all`, in the order in which they were started, that stem from `ancestor`. */
export function descendantsOf(all: readonly ProcessEntry[], ancestor: number): readonly ProcessEntry[] {
  const family = new Set([ancestor]);
  return all.filter(({ pid, parent }) => {
    const isDescendant = pid !== ancestor && family.has(parent);
    if (isDescendant) family.add(pid);
    return isDescendant;
  });
}

function pids(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function processIn(pid: number): ProcessEntry | undefined {
  try {
    return processOf(pid, readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

/** What `/proc/PID/stat` says. Before the last parenthesis stands the name of the program, which may hold anything. */
export function processOf(pid: number, stat: string): ProcessEntry {
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent = 0, group = 0] = fields;
  return {
    ...{ pid, parent, group, startedAt: fields[19] ?? 0 },
    cpuMs: ((fields[11] ?? 0) + (fields[12] ?? 0)) * MS_PER_TICK,
    bytes: (fields[21] ?? 0) * BYTES_A_PAGE,
  };
}
