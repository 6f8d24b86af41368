import type { RateUnit } from '../measurement.ts';
import { comparisonName } from '../results/comparison-name.ts';
import type {
  ComparisonResult,
  ContenderResult,
  ProbeResult,
  RaceResult,
  Result,
} from '../results/bench-report.ts';

/** What a number tells of. */
export type Quantity = 'ratio' | 'rate' | 'CPU' | 'memory' | 'reading';

/**
 * A number that two runs may have in common.
 *
 * - `what`    within its measurement: a contender, two of them, or the name of a reading.
 * - `scales`  how it depends on the speed of the machine.
 * - `values`  of the rounds or the processes; a single one where there were no more.
 */
export interface ComparableRow {
  readonly measurement: string;
  readonly quantity: Quantity;
  readonly what: string;
  readonly unit: string;
  readonly better: 'more' | 'less';
  readonly scales: 'rate' | 'time' | 'not';
  readonly isExact: boolean;
  readonly values: readonly number[];
}

/** Every number of a result. Contenders that did not run have none. */
export const rowsOf = (result: Result): readonly ComparableRow[] =>
  result.kind === 'race' ? rowsOfRace(result) : rowsOfProbe(result);

function rowsOfRace({ name, unit, contenders, comparisons }: RaceResult): readonly ComparableRow[] {
  return [
    ...comparisons.map((comparison) => ratioRow(name, comparison)),
    ...contenders.flatMap((contender) => contenderRows(name, unit, contender)),
  ];
}

const ratioRow = (measurement: string, comparison: ComparisonResult): ComparableRow => ({
  measurement,
  quantity: 'ratio',
  what: comparisonName(comparison),
  unit: 'x',
  better: comparison.of === 'rate' ? 'more' : 'less',
  scales: 'not',
  isExact: false,
  values: comparison.ratio.rounds,
});

function contenderRows(
  measurement: string,
  unit: RateUnit,
  { contender, rate, cpu, memory = [] }: ContenderResult,
): readonly ComparableRow[] {
  const of = { measurement, what: contender, isExact: false };
  const bytes = memory.map(({ startBytes, peakBytes }) => peakBytes - startBytes);
  return [
    ...(rate === undefined ? [] : [{ ...of, quantity: 'rate' as const, ...rateIn(unit, rate.rounds) }]),
    ...(cpu === undefined
      ? []
      : [
          { ...of, quantity: 'CPU', unit: 'us', better: 'less', scales: 'time', values: cpu.rounds } as const,
        ]),
    ...(bytes.length === 0
      ? []
      : [{ ...of, quantity: 'memory', unit: 'B', better: 'less', scales: 'not', values: bytes } as const]),
  ];
}

const rateIn = (unit: RateUnit, rates: readonly number[]) =>
  unit === 'per second'
    ? ({ unit: '/s', better: 'more', scales: 'rate', values: rates } as const)
    : ({ unit: 'us', better: 'less', scales: 'time', values: rates.map((rate) => 1e6 / rate) } as const);

const TIMES = ['us', 'ms', 's'];
const RATES = ['a second', 'per second', '/s'];

/** A reading is better when it is less, unless it is a rate or has a goal that says otherwise. */
function rowsOfProbe({ name, readings }: ProbeResult): readonly ComparableRow[] {
  return readings.map(({ name: what, unit, value, values = [value], isExact = false, goal }) => {
    const isRate = RATES.includes(unit);
    return {
      measurement: name,
      quantity: 'reading',
      what,
      unit,
      better: goal?.better ?? (isRate ? 'more' : 'less'),
      scales: isRate ? 'rate' : TIMES.includes(unit) ? 'time' : 'not',
      isExact,
      values,
    };
  });
}
