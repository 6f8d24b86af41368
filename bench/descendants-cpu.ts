import { readdirSync, readFileSync } from 'node:fs';
import { setInterval } from 'node:timers';

const LOOK_EVERY_MS = 50;
const MS_PER_TICK = 10;

interface Seen {
  readonly depth: number;
  readonly ms: number;
}

/**
 * Adds up the processor time of all processes that stem from this one while `work` is under way, milliseconds. It looks at
 * /proc again and again, so that those count whose parent is gone and nobody waited for; what a process uses between the last
 * look and its end is missed. Linux alone tells it.
 *
 * - `ofChildren`  of the processes that this one has started.
 * - `ofOthers`    of what those have started in turn.
 */
export async function withDescendantsCpu<Answer>(
  work: () => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly ofChildren: number; readonly ofOthers: number }> {
  const seen = new Map<string, Seen>();
  const before = new Set(processes().map(keyOf));
  const look = (): void => {
    const groups = new Map<number, number>([[process.pid, 0]]);
    for (const one of processes()) {
      const depth = seen.get(keyOf(one))?.depth ?? depthOf(one, groups);
      if (depth === undefined || one.pid === process.pid || before.has(keyOf(one))) continue;
      groups.set(one.pid, depth);
      seen.set(keyOf(one), { depth, ms: one.ms });
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  try {
    const answer = await work();
    const sum = (isMeant: (depth: number) => boolean): number =>
      [...seen.values()].reduce((all, { depth, ms }) => all + (isMeant(depth) ? ms : 0), 0);
    return { answer, ofChildren: sum((depth) => depth === 1), ofOthers: sum((depth) => depth > 1) };
  } finally {
    clearInterval(timer);
  }
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
  readonly ms: number;
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
    pid,
    parent,
    group,
    startedAt: fields[19] ?? 0,
    ms: ((fields[11] ?? 0) + (fields[12] ?? 0)) * MS_PER_TICK,
  };
}
