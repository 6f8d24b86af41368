import type { Random } from '../../runtime/protocol/seams.ts';
import type { Victim } from './victim.ts';

/**
 * When a process is killed.
 *
 * - `boot`   while it starts, and goes on with what was left.
 * - `work`   at any moment of its work.
 * - `commit` just after something was said to be done or kept, or is about to be: in a commit of the journal, or beside one.
 * - `end`    while it writes its report and stops.
 */
export const PHASES = ['boot', 'work', 'commit', 'end'] as const;
export type Phase = (typeof PHASES)[number];

/** What the lines of a program say about where it is, and how long it takes in each phase, milliseconds. */
export interface Habits {
  readonly begins: RegExp;
  readonly commits: RegExp;
  readonly ends: RegExp;
  bootMs: number;
  workMs: number;
  readonly endMs: number;
}

const COMMIT_MS = 4;
/** Of `ten`: how often each phase is chosen. */
const SHARES: readonly Phase[] = [
  'boot',
  'work',
  'work',
  'work',
  'work',
  'commit',
  'commit',
  'commit',
  'end',
  'boot',
];

export interface Moment {
  readonly phase: Phase;
  /** Which of the lines that tell of a commit. */
  readonly commit: number;
  /** How far into the phase, in [0, 1). */
  readonly fraction: number;
}

/** A moment by chance; `commits` is how many lines tell of one, at most. */
export const chooseMoment = (random: Random, commits: number): Moment => ({
  phase: SHARES[Math.floor(random() * SHARES.length)] ?? 'work',
  commit: 1 + Math.floor(random() * commits),
  fraction: random(),
});

/** Waits for the moment, unless the process ends before. What it takes to come to its phases is learned. */
export async function reach(
  victim: Victim,
  { phase, commit, fraction }: Moment,
  habits: Habits,
): Promise<void> {
  if (phase === 'boot') return victim.goesOn(fraction * habits.bootMs);
  if (!(await victim.prints(habits.begins))) return;
  habits.bootMs = learned(habits.bootMs, performance.now() - victim.startedMs);
  if (phase === 'work') return victim.goesOn(fraction * habits.workMs);
  const [pattern, count, ms] =
    phase === 'commit'
      ? ([habits.commits, commit, COMMIT_MS] as const)
      : ([habits.ends, 1, habits.endMs] as const);
  const begunMs = performance.now();
  if (!(await victim.prints(pattern, count))) return;
  if (phase === 'end') habits.workMs = learned(habits.workMs, performance.now() - begunMs);
  await victim.goesOn(fraction * ms);
}

const learned = (before: number, now: number): number => 0.7 * before + 0.3 * now;
