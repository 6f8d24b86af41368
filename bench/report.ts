import type { Goal } from './measurement.ts';
import type { BenchReport, ComparisonResult, ContenderResult, ProbeResult, RaceResult } from './results.ts';
import type { Spread } from './statistics.ts';

/** The report as text: a table a measurement, as it stands in the terminal. */
export function formatReport({ node, cpus, cpuModel, loadAtStart, effort, results }: BenchReport): string {
  const head = `Node ${node}, ${cpus} x ${cpuModel}, load ${loadAtStart.toFixed(1)} at start`;
  const effortLine = `${effort.rounds} rounds of ${effort.runMs} ms a contender; median [quartiles]; ratios are paired`;
  const tables = results.map((result) => (result.kind === 'race' ? formatRace(result) : formatProbe(result)));
  return [head, effortLine, ...tables].join('\n\n');
}

export function formatRace({ name, title, unit, contenders, comparisons }: RaceResult): string {
  const rates = contenders.map((result) => [result.contender, ...rateCells(result, unit)]);
  const ratios = comparisons.map(comparisonCells);
  return [`${name}: ${title}`, ...table(rates), ...(ratios.length === 0 ? [] : ['', ...table(ratios)])].join(
    '\n',
  );
}

export function formatProbe({ name, title, readings, failure, unavailable }: ProbeResult): string {
  const rows = readings.map(({ name: what, value, unit, note = '', goal, goalStatus }) => {
    return [what, `${round(value)} ${unit}`, note, goalText(goal, ''), goal === undefined ? '' : goalStatus];
  });
  const reason = failure ?? unavailable;
  const lines =
    reason === undefined ? [] : [`  ${failure === undefined ? 'not measured' : 'FAILED'}: ${reason}`];
  return [`${name}: ${title}`, ...table(rows), ...lines].join('\n');
}

function rateCells(
  { perSecond, cpuMicroseconds, failure, unavailable }: ContenderResult,
  unit: RaceResult['unit'],
): readonly string[] {
  if (unavailable !== undefined) return ['', `not measured: ${unavailable}`];
  if (failure !== undefined) return ['', `FAILED: ${failure}`];
  if (unit === 'per second')
    return [`${count(perSecond.median)}/s`, quartiles(perSecond, count), ...cpuCells(cpuMicroseconds)];
  const { median, lowerQuartile, upperQuartile } = perSecond;
  const times = {
    median: 1e6 / median,
    lowerQuartile: 1e6 / upperQuartile,
    upperQuartile: 1e6 / lowerQuartile,
  };
  return [`${times.median.toFixed(1)} us`, quartiles(times, (value) => value.toFixed(1))];
}

const cpuCells = (spread: Spread | undefined): readonly string[] =>
  spread === undefined ? [] : [`${spread.median.toFixed(0)} us of CPU`];

function comparisonCells({
  contender,
  baseline,
  of,
  ratio,
  goal,
  goalStatus,
}: ComparisonResult): readonly string[] {
  const subject = of === 'rate' ? `${contender} / ${baseline}` : `time of ${contender} / ${baseline}`;
  const judged = goal === undefined ? ['', ''] : [goalText(goal, 'x'), goalStatus];
  return [subject, `${ratio.median.toFixed(2)}x`, quartiles(ratio, (value) => value.toFixed(2)), ...judged];
}

function goalText(goal: Goal | undefined, suffix: string): string {
  if (goal === undefined) return '';
  const sign = goal.better === 'more' ? '>=' : '<=';
  const target = goal.target === undefined ? '' : `target ${sign} ${goal.target}${suffix}`;
  const floor = goal.floor === undefined || goal.floor === goal.target ? '' : `floor ${goal.floor}${suffix}`;
  return [target, floor].filter((part) => part !== '').join(', ');
}

const quartiles = ({ lowerQuartile, upperQuartile }: Spread, format: (value: number) => string): string =>
  `[${format(lowerQuartile)} .. ${format(upperQuartile)}]`;

const count = (value: number): string => Math.round(value).toLocaleString('en');
const round = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 });

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) => {
    return Math.max(...rows.map((row) => (column === row.length - 1 ? 0 : (row[column]?.length ?? 0))));
  });
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  );
}
