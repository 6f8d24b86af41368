import { readFileSync } from 'node:fs';

/** What one process of a mission printed about its tasks. */
export interface MissionLog {
  /** It said that the mission has begun: before that, nothing is promised. */
  readonly hasBegun: boolean;
  /** Accepted, as a run before had said. */
  readonly remembered: ReadonlySet<string>;
  /** Accepted by this run. */
  readonly accepted: ReadonlySet<string>;
  /** How often each was given to somebody. */
  readonly worked: ReadonlyMap<string, number>;
  /** Accepted, but not kept. */
  readonly lost: readonly string[];
}

const BEGUN = /^\[ *[\d.]+ s\] .*: \d+ tasks, assigned by/;
const CHANGED = /^\[ *[\d.]+ s\] (\S+) is (accepted|working)(?: \(attempt \d+\))?: (.*)$/;
const LOST = /^\[ *[\d.]+ s\] (\S+) is accepted, but that could not be kept: /;
const REMEMBERED = 'it was accepted in a run before';

export const HABITS = {
  begins: BEGUN,
  commits: /^\[.*\] \S+ is (accepted|judging)/,
  ends: /^\[.*\] ended: /,
} as const;

export function readLog(lines: readonly string[]): MissionLog {
  const remembered = new Set<string>();
  const accepted = new Set<string>();
  const worked = new Map<string, number>();
  const lost: string[] = [];
  for (const line of lines) {
    const [, task = '', status, why] = CHANGED.exec(line) ?? [];
    if (status === 'working') worked.set(task, (worked.get(task) ?? 0) + 1);
    else if (status === 'accepted') (why === REMEMBERED ? remembered : accepted).add(task);
    else if (LOST.test(line)) lost.push(line);
  }
  return { hasBegun: lines.some((line) => BEGUN.test(line)), remembered, accepted, worked, lost };
}

/** What a task did that nothing takes back: in which process, in the order in which it did. */
export interface Effect {
  readonly kind: 'begun' | 'applied';
  readonly task: string;
  readonly pid: number;
}

export const readEffects = (file: string): readonly Effect[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [kind, task = '', pid] = line.split(' ');
      return { kind: kind as Effect['kind'], task, pid: Number(pid) };
    });
