import type { Effort, Goal, Reading, GoalStatus } from './measurement.ts';
import type { Spread } from './statistics.ts';

/** What one contender did in a race. `rates` are operations a second, one a round. */
export interface ContenderResult {
  readonly contender: string;
  readonly rates: readonly number[];
  readonly perSecond: Spread;
  /** Of CPU for one operation, where whoever serves is a process of its own. */
  readonly cpuMicroseconds?: Spread;
  readonly failure?: string;
  readonly unavailable?: string;
}

export interface ComparisonResult {
  readonly contender: string;
  readonly baseline: string;
  readonly of: 'rate' | 'time';
  readonly ratio: Spread;
  readonly goal?: Goal;
  readonly goalStatus: GoalStatus;
}

export interface RaceResult {
  readonly kind: 'race';
  readonly name: string;
  readonly title: string;
  readonly unit: 'per second' | 'microseconds';
  readonly contenders: readonly ContenderResult[];
  readonly comparisons: readonly ComparisonResult[];
}

export interface ProbeResult {
  readonly kind: 'probe';
  readonly name: string;
  readonly title: string;
  readonly readings: readonly (Reading & { readonly goalStatus: GoalStatus })[];
  readonly failure?: string;
  readonly unavailable?: string;
}

export type Result = RaceResult | ProbeResult;

/** Everything that one `npm run bench` measured, as `--json` writes it. */
export interface BenchReport {
  readonly startedAt: string;
  readonly node: string;
  readonly cpus: number;
  readonly cpuModel: string;
  readonly loadAtStart: number;
  readonly effort: Effort;
  readonly results: readonly Result[];
}

/** What a `--gate` refuses: values below their floor, and contenders of ours that failed. */
export function defectsOf(results: readonly Result[]): readonly string[] {
  return results.flatMap((result) => {
    if (result.kind === 'probe') {
      const low = result.readings.filter(({ goalStatus }) => goalStatus === 'BELOW FLOOR');
      const failed = result.failure === undefined ? [] : [`${result.name}: ${result.failure}`];
      return [
        ...failed,
        ...low.map(({ name, value, unit }) => `${result.name}: ${name} is ${value.toFixed(2)} ${unit}`),
      ];
    }
    const low = result.comparisons.filter(({ goalStatus }) => goalStatus === 'BELOW FLOOR');
    const failed = result.contenders.filter(({ failure }) => failure !== undefined);
    return [
      ...failed.map(({ contender, failure }) => `${result.name}: ${contender}: ${failure}`),
      ...low.map(({ contender, baseline, ratio }) => {
        return `${result.name}: ${contender} is ${ratio.median.toFixed(2)} of ${baseline}`;
      }),
    ];
  });
}
