import { SAME_SPEED, type Calibration } from '../machine/calibration.ts';
import { isSameMachine } from '../machine/machine.ts';
import { isMeant } from '../options.ts';
import type { BenchReport } from '../results/bench-report.ts';
import { spreadOf } from '../statistics.ts';
import { doubtsOf } from '../results/doubts.ts';
import { differencesBetween } from './differences.ts';
import { type ComparableRow, rowsOf } from './rows.ts';
import { type Judgement, judge, judgeExact } from './verdict.ts';

/** One number of both runs. `before` and `after` are medians; of the later run as they would be on the earlier machine. */
export interface ComparedRow extends Judgement {
  readonly row: ComparableRow;
  readonly before: number;
  readonly after: number;
}

/**
 * Two runs laid side by side.
 *
 * - `speed`        of the later machine over the earlier one, by which its rates and times are normalised; 1 where they are
 *                  not: the machine is the same, and as fast.
 * - `differences`  what else differs, a sentence each.
 * - `doubts`       what speaks against the figures of each.
 */
export interface ReportComparison {
  readonly speed: number;
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
  const speed = speedBetween(before, after);
  const rows = [...earlier].flatMap(([key, row]) => {
    const other = later.get(key);
    return other === undefined ? [] : [compared(row, other, speed)];
  });
  return {
    speed,
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

/** How much faster the later machine is, with one thread; 1 where it is the same, and its calibrations agree. */
function speedBetween(before: BenchReport, after: BenchReport): number {
  const speed = speedOf(after.calibration) / speedOf(before.calibration);
  const isSame = isSameMachine(before.machine, after.machine) && Math.abs(speed - 1) <= SAME_SPEED;
  return isSame ? 1 : speed;
}

const speedOf = ({ start, end }: { readonly start: Calibration; readonly end: Calibration }): number =>
  Math.sqrt(start.oneCore * end.oneCore);

function compared(earlier: ComparableRow, later: ComparableRow, speed: number): ComparedRow {
  const { values, scales, better, isExact } = earlier;
  const scale = scales === 'rate' ? 1 / speed : scales === 'time' ? speed : 1;
  const normalised = later.values.map((value) => value * scale);
  const [before, after] = [spreadOf(values).median, spreadOf(normalised).median];
  const judgement = isExact ? judgeExact(before, after, better) : judge(values, normalised, better);
  return { row: earlier, before, after, ...judgement };
}
