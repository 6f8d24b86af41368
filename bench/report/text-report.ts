import type {
  BenchReport,
  ComparisonResult,
  ContenderResult,
  MemoryResult,
  ProbeResult,
  RaceResult,
  Result,
} from '../results/bench-report.ts';
import { comparisonName } from '../results/comparison-name.ts';
import { defectsOf } from '../results/defects.ts';
import { doubtsOf } from '../results/doubts.ts';
import { type About, aboutRows } from './about-rows.ts';
import { goalText } from './goal-text.ts';
import { megabytes, rate, rateQuartiles, ratio, ratioQuartiles, round } from './number-text.ts';
import { textTable } from './text-table.ts';

/** The whole report, as it stood in the terminal. */
export function reportText(report: BenchReport): string {
  return [aboutText(report), ...report.results.map(resultText), endText(report)].join('\n\n');
}

export const aboutText = (about: About): string => textTable(aboutRows(about)).join('\n');

export const resultText = (result: Result): string =>
  result.kind === 'race' ? raceText(result) : probeText(result);

/** What to think of it all. */
export function endText(report: BenchReport): string {
  const { oneCore, allCores } = report.calibration.end;
  return [
    `Speed at the end: ${round(oneCore)} with one thread, ${round(allCores)} with one a core`,
    ...listed('Doubts', doubtsOf(report)),
    ...listed('Defects', defectsOf(report.results)),
  ].join('\n');
}

const listed = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];

const HEAD = ['', 'median', 'quartiles', 'CPU an operation', 'memory'];

function raceText({ name, title, unit, contenders, comparisons }: RaceResult): string {
  const rates = contenders.map((result) => [result.contender, ...contenderCells(result, unit)]);
  const ratios = comparisons.map(comparisonCells);
  return [
    `${name}: ${title}`,
    ...textTable([HEAD, ...rates]),
    ...(ratios.length === 0 ? [] : ['', ...textTable(ratios)]),
  ].join('\n');
}

function contenderCells(result: ContenderResult, unit: RaceResult['unit']): readonly string[] {
  const { rate: perSecond, memory, failure, unavailable } = result;
  if (unavailable !== undefined) return [`not measured: ${unavailable}`];
  if (failure !== undefined) return [`FAILED: ${failure}`];
  if (perSecond === undefined) return ['no round was run'];
  const { spread } = perSecond;
  return [
    rate(spread.median, unit),
    rateQuartiles(spread, unit),
    cpuText(result),
    memory === undefined ? '' : memoryText(memory),
  ];
}

/** Of all its threads and processes. */
export function cpuText({ cpu, childCpu }: ContenderResult): string {
  if (cpu === undefined) return '';
  const below = childCpu === undefined ? '' : `, ${round(childCpu.spread.median)} of them in its children`;
  return `${round(cpu.spread.median)} us${below}`;
}

/** What it takes above the process that it is opened in; of several processes, that which took the most. */
export function memoryText(memory: readonly MemoryResult[]): string {
  const growth = (of: 'endBytes' | 'peakBytes'): number =>
    Math.max(...memory.map((one) => one[of] - one.startBytes));
  return `+${megabytes(growth('endBytes'))}, at most +${megabytes(growth('peakBytes'))}`;
}

function comparisonCells(result: ComparisonResult): readonly string[] {
  const { goal, goalStatus, ratio: series } = result;
  const judged = goal === undefined ? ['', ''] : [goalText(goal, 'x'), goalStatus];
  return [comparisonName(result), ratio(series.spread.median), ratioQuartiles(series.spread), ...judged];
}

function probeText({ name, title, readings, failure, unavailable }: ProbeResult): string {
  const rows = readings.map(({ name: what, value, unit, note = '', goal, goalStatus }) => {
    return [
      what,
      `${round(value)} ${unit}`,
      note,
      goalText(goal, ` ${unit}`),
      goal === undefined ? '' : goalStatus,
    ];
  });
  const reason = failure ?? unavailable;
  const lines =
    reason === undefined ? [] : [`  ${failure === undefined ? 'not measured' : 'FAILED'}: ${reason}`];
  return [`${name}: ${title}`, ...textTable(rows), ...lines].join('\n');
}
