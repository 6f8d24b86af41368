import { z } from 'zod';
import { Busyness } from '../machine/busyness.ts';
import { Calibration } from '../machine/calibration.ts';
import { Machine } from '../machine/machine.ts';
import { Versions } from '../machine/versions.ts';
import { Comparison, Effort, RateUnit, Reading } from '../measurement.ts';
import { Spread } from '../statistics.ts';
import { GoalStatus } from './goal-status.ts';

/** Values of the rounds, in their order. */
export const Series = z.strictObject({ rounds: z.array(z.number()).readonly(), spread: Spread });
export type Series = z.infer<typeof Series>;

/**
 * Resident memory of a contender's process and of those below it.
 *
 * - `startBytes`    before it was opened: Node, and the modules of the race.
 * - `settledBytes`  when it was warm.
 * - `endBytes`      after its last run.
 * - `peakBytes`     the most, each process at its own worst moment.
 */
export const MemoryResult = z.strictObject({
  startBytes: z.number(),
  settledBytes: z.number(),
  endBytes: z.number(),
  peakBytes: z.number(),
});
export type MemoryResult = z.infer<typeof MemoryResult>;

/**
 * What one contender did in a race.
 *
 * - `rate`      operations a second.
 * - `cpu`       microseconds of processor time for one operation, of all threads of all its processes.
 * - `childCpu`  of it, what processes took that the contender has started.
 * - `memory`    of each process that it has had, one after the other.
 */
export const ContenderResult = z.strictObject({
  contender: z.string(),
  rate: Series.optional(),
  cpu: Series.optional(),
  childCpu: Series.optional(),
  memory: z.array(MemoryResult).readonly().optional(),
  failure: z.string().optional(),
  unavailable: z.string().optional(),
});
export type ContenderResult = z.infer<typeof ContenderResult>;

export const ComparisonResult = z.strictObject({
  ...Comparison.shape,
  ratio: Series,
  goalStatus: GoalStatus,
});
export type ComparisonResult = z.infer<typeof ComparisonResult>;

export const RaceResult = z.strictObject({
  kind: z.literal('race'),
  name: z.string(),
  title: z.string(),
  unit: RateUnit,
  contenders: z.array(ContenderResult).readonly(),
  comparisons: z.array(ComparisonResult).readonly(),
});
export type RaceResult = z.infer<typeof RaceResult>;

export const ProbeResult = z.strictObject({
  kind: z.literal('probe'),
  name: z.string(),
  title: z.string(),
  readings: z.array(z.strictObject({ ...Reading.shape, goalStatus: GoalStatus })).readonly(),
  failure: z.string().optional(),
  unavailable: z.string().optional(),
});
export type ProbeResult = z.infer<typeof ProbeResult>;

export const Result = z.discriminatedUnion('kind', [RaceResult, ProbeResult]);
export type Result = z.infer<typeof Result>;

/** Of what `--json` writes: other versions are not read. */
export const REPORT_VERSION = 2;

/**
 * Everything that one `npm run bench` measured, as `--json` writes it.
 *
 * - `busyness`     of the machine before the first measurement.
 * - `calibration`  how fast the machine was, before the first measurement and after the last.
 * - `stealShare`   of the time of all cores, what a hypervisor gave to other machines from the first measurement to the last.
 */
export const BenchReport = z.strictObject({
  version: z.literal(REPORT_VERSION),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  effort: Effort,
  machine: Machine,
  versions: Versions,
  busyness: Busyness,
  calibration: z.strictObject({ start: Calibration, end: Calibration }),
  stealShare: z.number(),
  results: z.array(Result).readonly(),
});
export type BenchReport = z.infer<typeof BenchReport>;
