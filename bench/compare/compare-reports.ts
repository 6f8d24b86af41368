import { SAME_SPEED, type Calibration } from '../machine/calibration.ts';
import { isSameMachine } from '../machine/machine.ts';
import { isMeant } from '../options.ts';
import type { BenchReport } from '../results/bench-report.ts';
import { spreadOf } from '../statistics.ts';
import { doubtsOf } from '../results/doubts.ts';
import { differencesBetween } from './differences.ts';
import { type ComparableRow, rowsOf } from './rows.ts';
import { type Judgement, judge, judgeCounts } from './verdict.ts';

/** One number of both runs. `before` and `after` are medians, the latter normalised where the machines differ. */
export interface ComparedRow extends Judgement {
  readonly row: ComparableRow;
  readonly before: number;
  readonly after: number;
}

/**
 * Two runs laid side by side.
 *
 * - `speed`        of the machine in the later run, over that in the earlier one, by their calibrations.
 * - `isOtherMachine` rates and times of the later run are as they would be on the earlier machine.
 * - `differences`  what else differs, a sentence each.
 * - `doubts`       what speaks against the figures of each.
 */
export interface ReportComparison {
  readonly speed: number;
  readonly isOtherMachine: boolean;
  readonly differences: readonly string[];
  readonly doubts: { readonly before: readonly string[]; readonly after: readonly string[] };
  readonly rows: readonly ComparedRow[];
  readonly worse: readonly ComparedRow[];
  readonly onlyBefore: readonly ComparableRow[];
  readonly onlyAfter: readonly ComparableRow[];
}

/** Compares what both runs have measured, of the measurements that `only` begins. */
export function compareReports(
  before: BenchReport,
  after: BenchReport,
  only: readonly string[],
): ReportComparison {
  const rowsIn = ({ results }: BenchReport): ReadonlyMap<string, ComparableRow> =>
    new Map(
      results
        .filter(({ name }) => isMeant(name, only))
        .flatMap(rowsOf)
        .map((row) => [keyOf(row), row]),
    );
  const [earlier, later] = [rowsIn(before), rowsIn(after)];
  const speed = speedOf(after.calibration) / speedOf(before.calibration);
  const isOtherMachine = !isSameMachine(before.machine, after.machine);
  const rows = [...earlier].flatMap(([key, row]) => {
    const other = later.get(key);
    return other === undefined ? [] : [compared(row, other, { speed, isOtherMachine })];
  });
  return {
    speed,
    isOtherMachine,
    differences: differencesBetween(before, after),
    doubts: { before: doubtsOf(before), after: doubtsOf(after) },
    rows,
    worse: rows.filter(({ verdict }) => verdict === 'worse'),
    onlyBefore: [...earlier].flatMap(([key, row]) => (later.has(key) ? [] : [row])),
    onlyAfter: [...later].flatMap(([key, row]) => (earlier.has(key) ? [] : [row])),
  };
}

const keyOf = ({ measurement, quantity, what }: ComparableRow): string =>
  [measurement, quantity, what].join('\n');

const speedOf = ({ start, end }: { readonly start: Calibration; readonly end: Calibration }): number =>
  Math.sqrt(start.oneCore * end.oneCore);

/** Whether the calibrations of two runs tell of the same speed. */
export const isSameSpeed = (speed: number): boolean => Math.abs(speed - 1) <= SAME_SPEED;

function compared(
  earlier: ComparableRow,
  later: ComparableRow,
  { speed, isOtherMachine }: Pick<ReportComparison, 'speed' | 'isOtherMachine'>,
): ComparedRow {
  const { values, scales, better, isExact } = earlier;
  const judgeValues = isExact ? judgeCounts : judge;
  const scale = scales === 'rate' ? 1 / speed : scales === 'time' ? speed : 1;
  const normalised = later.values.map((value) => value * scale);
  const asMeasured = judgeValues(values, later.values, better);
  const asNormalised = judgeValues(values, normalised, better);
  const medians = (after: readonly number[]) => ({
    row: earlier,
    before: spreadOf(values).median,
    after: spreadOf(after).median,
  });
  if (isOtherMachine) return { ...medians(normalised), ...asNormalised };
  const isSure = isSameSpeed(speed) || asMeasured.verdict === asNormalised.verdict;
  return { ...medians(later.values), ...asMeasured, ...(isSure ? {} : { verdict: 'cannot say' }) };
}
