import { readdirSync, readFileSync } from 'node:fs';
import { setInterval } from 'node:timers';

const LOOK_EVERY_MS = 50;
const MS_PER_TICK = 10;
const BYTES_A_PAGE = 4_096;

/** Processor time in all, milliseconds, and the most memory that was taken at once, bytes. */
export interface Taken {
  cpuMs: number;
  peakBytes: number;
}

/**
 * What all processes take that stem from this one while `work` is under way. It looks at /proc again and again, so that those
 * count whose parent is gone and nobody waited for; what a process uses between the last look and its end is missed. Linux
 * alone tells it.
 *
 * - `byChildren`  by the processes that this one has started.
 * - `byOthers`    by what those have started in turn.
 */
export async function withDescendants<Answer>(
  work: () => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly byChildren: Taken; readonly byOthers: Taken }> {
  const known = new Map<string, Descendant>();
  const before = new Set(processes().map(keyOf));
  const byChildren: Taken = { cpuMs: 0, peakBytes: 0 };
  const byOthers: Taken = { cpuMs: 0, peakBytes: 0 };
  const look = (): void => {
    const depths = new Map<number, number>([[process.pid, 0]]);
    const bytes = { byChildren: 0, byOthers: 0 };
    for (const one of processes()) {
      const was = known.get(keyOf(one));
      const depth = was?.depth ?? depthOf(one, depths);
      if (depth === undefined || one.pid === process.pid || before.has(keyOf(one))) continue;
      depths.set(one.pid, depth);
      known.set(keyOf(one), { depth, cpuMs: one.cpuMs });
      (depth === 1 ? byChildren : byOthers).cpuMs += one.cpuMs - (was?.cpuMs ?? 0);
      bytes[depth === 1 ? 'byChildren' : 'byOthers'] += one.bytes;
    }
    byChildren.peakBytes = Math.max(byChildren.peakBytes, bytes.byChildren);
    byOthers.peakBytes = Math.max(byOthers.peakBytes, bytes.byOthers);
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  try {
    return { answer: await work(), byChildren, byOthers };
  } finally {
    clearInterval(timer);
  }
}

interface Descendant {
  readonly depth: number;
  readonly cpuMs: number;
}

/** A process whose parent is gone is still in the group that a process of ours leads. */
function depthOf({ parent, group }: Process, known: ReadonlyMap<number, number>): number | undefined {
  const above = known.get(parent) ?? known.get(group);
  return above === undefined ? undefined : above + 1;
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly startedAt: number;
  readonly cpuMs: number;
  readonly bytes: number;
}

const keyOf = ({ pid, startedAt }: Process): string => `${pid} ${startedAt}`;

/** All processes, in the order in which they were started. */
function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processIn(Number(name)) ?? [])
    .sort((a, b) => a.startedAt - b.startedAt || a.pid - b.pid);
}

function processIn(pid: number): Process | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
  // What stands before the last parenthesis is the name of the program, which may hold anything.
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
