import { readdirSync, readFileSync } from 'node:fs';

/** Fields of `/proc/PID/stat` after the name, which ends at the last parenthesis. */
const STATE = 0;
const PARENT = 1;
const GROUP = 2;
const START = 19;
/** States of a process that has ended, and waits for its parent to notice. */
const ENDED = 'ZX';

/** A process that has not ended, as `/proc` shows it. `start` is in the kernel's own ticks since the machine was started. */
export interface KnownProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly start: string;
}

/** The process with this number, also one that has ended and waits to be noticed; undefined when there is none. */
export function processAt(pid: number): (KnownProcess & { readonly hasEnded: boolean }) | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
      pid,
      parent: Number(fields[PARENT]),
      group: Number(fields[GROUP]),
      start: fields[START] as string,
      hasEnded: ENDED.includes(fields[STATE] as string),
    };
  } catch {
    return undefined;
  }
}

/** All processes of this machine that have not ended; none where there is no `/proc`. */
export function knownProcesses(): KnownProcess[] {
  return numbers()
    .map(processAt)
    .filter((process) => process !== undefined)
    .filter(({ hasEnded }) => !hasEnded);
}

/** The numbers of those that are in the process group and have not ended. */
export const membersOf = (head: number): number[] =>
  knownProcesses()
    .filter(({ group }) => group === head)
    .map(({ pid }) => pid);

function numbers(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** The number of the command that a `bwrap` runs: the second process of its namespace, after the one that reaps. */
export function innermostOf(wrapper: number): number | undefined {
  const all = knownProcesses();
  const reaper = all.find(({ parent }) => parent === wrapper);
  return all.find(({ pid, parent }) => parent === reaper?.pid && numberInside(pid) === FIRST_COMMAND)?.pid;
}

const FIRST_COMMAND = 2;

/** The number of the process in the innermost of its namespaces. */
function numberInside(pid: number): number | undefined {
  try {
    const numbers = /^NSpid:\s+(.+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return Number(numbers?.split(/\s+/).at(-1));
  } catch {
    return undefined;
  }
}
