import { setInterval } from 'node:timers';
import { type ProcessEntry, processes } from './machine/process-table.ts';

const LOOK_EVERY_MS = 50;

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
function depthOf({ parent, group }: ProcessEntry, known: ReadonlyMap<number, number>): number | undefined {
  const above = known.get(parent) ?? known.get(group);
  return above === undefined ? undefined : above + 1;
}

const keyOf = ({ pid, startedAt }: ProcessEntry): string => `${pid} ${startedAt}`;
