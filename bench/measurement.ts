/** A contender made ready: its threads run, its agents are started. */
export interface Session {
  /** Does `count` operations; resolves when the last of them has been handled, and rejects when one got lost. */
  run(count: number): Promise<void>;
  /** Ends every thread of it. */
  close(): Promise<void>;
  /** CPU time that whoever serves has used so far, where that is a process of its own: what a busy machine changes little. */
  cpuMs?(): number;
}

/** One way of doing the measured job: opened once a race, run once a round. */
export interface Contender {
  readonly name: string;
  open(): Promise<Session>;
}

/**
 * What a number has to reach (DESIGN 11). `target` is what was set out for, missing `floor` is a defect.
 *
 * - `better`  `more`: at least; `less`: at most.
 */
export interface Goal {
  readonly better: 'more' | 'less';
  readonly target?: number;
  readonly floor?: number;
}

/**
 * Two contenders of one race, round by round.
 *
 * - `of`  `rate`: the contender's rate over the baseline's; `time`: its time for one operation over the baseline's.
 */
export interface Comparison {
  readonly contender: string;
  readonly baseline: string;
  readonly of: 'rate' | 'time';
  readonly goal?: Goal;
}

/**
 * The same job done by every contender in turn, round after round.
 *
 * - `name`       what `--only` selects by its beginning.
 * - `unit`       how a rate is shown: operations a second, or microseconds for one.
 * - `onOneCore`  run in a child process that may use one core only.
 * - `openMs`     how long a contender may take to be made ready, milliseconds. @default 15,000
 */
export interface Race {
  readonly kind: 'race';
  readonly name: string;
  readonly title: string;
  readonly unit: 'per second' | 'microseconds';
  readonly onOneCore?: true;
  readonly openMs?: number;
  readonly contenders: readonly Contender[];
  readonly comparisons: readonly Comparison[];
}

/** One number that is read from a child process, not raced for. */
export interface Reading {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly note?: string;
  readonly goal?: Goal;
}

/** Numbers that stand by themselves: start-up, memory, size. Throws `Unavailable` when there is nothing to read. */
export interface Probe {
  readonly kind: 'probe';
  readonly name: string;
  readonly title: string;
  read(effort: Effort): Promise<readonly Reading[]>;
}

export type Measurement = Race | Probe;

/** How much is measured: rounds of a race, milliseconds a contender runs in one round. */
export interface Effort {
  readonly rounds: number;
  readonly runMs: number;
}

/** Why something was not measured, in one plain line; not a failure. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** Where a value stands against its goal. */
export type GoalStatus = 'reached' | 'above floor' | 'below target' | 'BELOW FLOOR' | 'no goal';

export function goalStatusOf(value: number, goal: Goal | undefined): GoalStatus {
  if (goal === undefined) return 'no goal';
  const meets = (limit: number): boolean => (goal.better === 'more' ? value >= limit : value <= limit);
  if (goal.floor !== undefined && !meets(goal.floor)) return 'BELOW FLOOR';
  if (goal.target === undefined || meets(goal.target)) return 'reached';
  return goal.floor === undefined ? 'below target' : 'above floor';
}
