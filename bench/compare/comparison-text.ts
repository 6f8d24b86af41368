import { megabytes, round } from '../report/number-text.ts';
import { textTable } from '../report/text-table.ts';
import { type ComparedRow, isSameSpeed, type ReportComparison } from './compare-reports.ts';
import type { ComparableRow } from './rows.ts';
import type { Verdict } from './verdict.ts';

/** The names of the files that were compared. */
export type ComparedFiles = readonly [before: string, after: string];

/** The comparison as text: a table a measurement, and how many rows have each verdict. */
export function comparisonText(comparison: ReportComparison, files: ComparedFiles): string {
  const { rows, worse, onlyBefore, onlyAfter } = comparison;
  const [before, after] = files;
  const tables = [...Map.groupBy(rows, ({ row }) => row.measurement)].map(([measurement, group]) =>
    [measurement, ...textTable(group.map(cellsOf))].join('\n'),
  );
  return [
    [`${before}, then ${after}`, ...remarksOn(comparison, files).map((line) => `  ${line}`)].join('\n'),
    ...tables,
    ...listed(`Only in ${before}:`, onlyBefore.map(nameOf)),
    ...listed(`Only in ${after}:`, onlyAfter.map(nameOf)),
    ...listed(
      'Worse:',
      worse.map((one) => `${nameOf(one.row)}: ${changeText(one)}`),
    ),
    countsText(rows),
  ].join('\n\n');
}

/** What to know before the rows are read. */
export function remarksOn(comparison: ReportComparison, [before, after]: ComparedFiles): readonly string[] {
  const { differences, doubts } = comparison;
  return [
    ...differences,
    ...speedRemarks(comparison, after),
    ...doubts.before.map((doubt) => `${before}: ${doubt}`),
    ...doubts.after.map((doubt) => `${after}: ${doubt}`),
  ];
}

function speedRemarks({ speed, isOtherMachine }: ReportComparison, after: string): readonly string[] {
  const faster = `By calibration the machine of ${after} is ${round(speed)} times as fast`;
  if (isOtherMachine) return [`${faster}: its rates and times are as they would be on the other machine.`];
  if (isSameSpeed(speed)) return [];
  return [`${faster} as it was: rates and times have a verdict where that makes no difference.`];
}

const listed = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [[title, ...lines.map((line) => `  ${line}`)].join('\n')];

export const nameOf = ({ measurement, quantity, what }: ComparableRow): string =>
  `${measurement}: ${quantity === 'reading' ? '' : `${quantity} of `}${what}`;

function cellsOf(compared: ComparedRow): readonly string[] {
  const { row, before, after } = compared;
  return [
    row.quantity,
    row.what,
    valueText(before, row.unit),
    valueText(after, row.unit),
    intervalText(compared),
    verdictText(compared),
  ];
}

export const changeText = (compared: ComparedRow): string =>
  [
    `${valueText(compared.before, compared.row.unit)}, then ${valueText(compared.after, compared.row.unit)}`,
    verdictText(compared),
    intervalText(compared),
  ].join(' ');

/** A value with its unit. */
export function valueText(value: number, unit: string): string {
  if (unit === 'B') return megabytes(value);
  return `${round(value)}${unit === 'x' || unit === '/s' ? '' : ' '}${unit}`;
}

/** By which factor the later run is better, and where that lies. */
export function intervalText({ factor, interval }: ComparedRow): string {
  if (!Number.isFinite(factor)) return '';
  const within = interval === undefined ? '' : ` [${interval.low.toFixed(2)} .. ${interval.high.toFixed(2)}]`;
  return `${factor.toFixed(2)}${within}`;
}

const OF_SPEED = { better: 'faster', worse: 'slower' };
const OF_COST = { better: 'cheaper', worse: 'dearer' };
const OF_SIZE = { better: 'smaller', worse: 'larger' };
const OF_ANYTHING = { better: 'better', worse: 'worse' };

/** The verdict in the words of what is compared. */
export function verdictText({ verdict, row }: ComparedRow): string {
  if (verdict === 'same' || verdict === 'cannot say') return verdict;
  return wordsFor(row)[verdict];
}

function wordsFor({ quantity, scales }: ComparableRow): typeof OF_SPEED {
  if (quantity === 'CPU') return OF_COST;
  if (quantity === 'memory') return OF_SIZE;
  return quantity === 'reading' && scales === 'not' ? OF_ANYTHING : OF_SPEED;
}

const VERDICTS: readonly Verdict[] = ['better', 'worse', 'same', 'cannot say'];

/** How many rows have each verdict. */
export function countsText(rows: readonly ComparedRow[]): string {
  const counts = VERDICTS.map((verdict) => {
    return `${rows.filter((row) => row.verdict === verdict).length} ${verdict}`;
  });
  return `${rows.length} rows: ${counts.join(', ')}`;
}
