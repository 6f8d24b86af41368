import { z } from 'zod';

/** A contender made ready: its threads run, its agents are started. */
export interface Session {
  /** Does `count` operations; resolves when the last of them has been handled, and rejects when one got lost. */
  run(count: number): Promise<void>;
  /** Ends every thread and process of it. */
  close(): Promise<void>;
}

/**
 * One way of doing the measured job: opened once in a process of its own, run once a round.
 *
 * - `packages`  whose code it runs: their versions stand in the results.
 */
export interface Contender {
  readonly name: string;
  readonly packages?: readonly string[];
  open(): Promise<Session>;
}

/**
 * What a number has to reach (DESIGN 11). `target` is what was set out for, missing `floor` is a defect.
 *
 * - `better`  `more`: at least; `less`: at most.
 */
export const Goal = z.strictObject({
  better: z.enum(['more', 'less']),
  target: z.number().optional(),
  floor: z.number().optional(),
});
export type Goal = z.infer<typeof Goal>;

/**
 * Two contenders of one race, round by round.
 *
 * - `of`  `rate`: the contender's rate over the baseline's; `time`: its time for one operation over the baseline's; `cpu`: its
 *   processor time for one operation over the baseline's, without that of processes below it.
 */
export const Comparison = z.strictObject({
  contender: z.string().min(1),
  baseline: z.string().min(1),
  of: z.enum(['rate', 'time', 'cpu']),
  goal: Goal.optional(),
});
export type Comparison = z.infer<typeof Comparison>;

/** How a rate is shown: operations a second, or microseconds for one. */
export const RateUnit = z.enum(['per second', 'microseconds']);
export type RateUnit = z.infer<typeof RateUnit>;

/**
 * The same job done by every contender in turn, round after round.
 *
 * - `name`       what `--only` selects by its beginning.
 * - `onOneCore`  each contender may use one core only, the same.
 * - `openMs`     how long a contender may take to be made ready, milliseconds. @default 60,000
 */
export interface Race {
  readonly kind: 'race';
  readonly name: string;
  readonly title: string;
  readonly unit: RateUnit;
  readonly onOneCore?: true;
  readonly openMs?: number;
  readonly contenders: readonly Contender[];
  readonly comparisons: readonly Comparison[];
}

/**
 * One number that is not raced for.
 *
 * - `value`    the median, where there are `values`.
 * - `values`   what was read each time: without them nobody can tell how much it varies.
 * - `isExact`  counted, not measured: the same things have the same number.
 */
export const Reading = z.strictObject({
  name: z.string().min(1),
  value: z.number(),
  values: z.array(z.number()).readonly().optional(),
  isExact: z.literal(true).optional(),
  unit: z.string(),
  note: z.string().optional(),
  goal: Goal.optional(),
});
export type Reading = z.infer<typeof Reading>;

/** Numbers that stand by themselves: start-up, memory, size. Throws `Unavailable` when there is nothing to read. */
export interface Probe {
  readonly kind: 'probe';
  readonly name: string;
  readonly title: string;
  read(effort: Effort): Promise<readonly Reading[]>;
}

export type Measurement = Race | Probe;

/**
 * How much is measured.
 *
 * - `rounds`     of each race.
 * - `runMs`      milliseconds that a contender runs in one round.
 * - `warmUpMs`   milliseconds that a contender runs before, at least.
 * - `processes`  that a contender has one after the other; they share the rounds.
 */
export const Effort = z.strictObject({
  rounds: z.int().positive(),
  runMs: z.int().positive(),
  warmUpMs: z.int().positive(),
  processes: z.int().positive(),
});
export type Effort = z.infer<typeof Effort>;

/** Why something was not measured, in one plain line; not a failure. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}
