import { readFileSync } from 'node:fs';
import { type KnownProcess, knownProcesses } from './proc-table.ts';

/** The variable by which a process, and what inherits its environment, is known when it has left its group and its parent. */
export const MARK = 'ORRERY_PROCESS';

/** Looks for new members of a family, before it is given up: it may start others faster than they are found. */
const MOST_LOOKS = 200;

/** The mark that a process was started with; undefined for one without, or one that is gone. */
export const markOf = (pid: number): string | undefined => variableOf(pid, MARK);

/** A variable that a process was started with; undefined for one without, one that is gone, and where that may not be read. */
export const variableOf = (pid: number, name: string): string | undefined =>
  environmentOf(pid)
    .find((variable) => variable.startsWith(`${name}=`))
    ?.slice(name.length + 1);

/**
 * The numbers of those that have not ended and belong to the process: its group, what it has started and what that has
 * started, and whoever has its mark. It needs `/proc`, and finds nobody by a mark whose environment it may not read.
 */
export function familyOf(head: number | undefined, mark: string | undefined): number[] {
  const all = knownProcesses();
  const parents = new Map(all.map(({ pid, parent }) => [pid, parent]));
  return all
    .filter(
      (each) =>
        (head !== undefined && (each.group === head || descends(each, head, parents))) ||
        (mark !== undefined && markOf(each.pid) === mark),
    )
    .map(({ pid }) => pid);
}

/**
 * Kills the process, its group, and its family if it has a mark. The mark is read from the process unless it is given: once
 * that is gone it cannot be.
 */
export function endProcess(pid: number, mark = markOf(pid)): void {
  if (mark !== undefined) endFamily(pid, mark);
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It is gone, or this system has no process groups.
  }
}

/**
 * Kills the family of a process, which may be gone itself. Returns how many it has killed. `except`: whoever calls this from within,
 * and is to end last.
 */
export function endFamily(head: number | undefined, mark: string | undefined, except?: number): number {
  const killed = new Set<number>();
  // What is started between a look and a kill is found by the next look.
  for (let look = 0; look < MOST_LOOKS; look++) {
    const found = familyOf(head, mark).filter((pid) => pid !== except && !killed.has(pid));
    if (found.length === 0) break;
    for (const pid of found) {
      kill(pid);
      killed.add(pid);
    }
  }
  return killed.size;
}

function descends({ pid }: KnownProcess, head: number, parents: ReadonlyMap<number, number>): boolean {
  const seen = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && !seen.has(at); at = parents.get(at)) {
    if (at === head) return true;
    seen.add(at);
  }
  return false;
}

function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return []; // It is gone, or somebody else's.
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile, or is somebody else's.
  }
}
