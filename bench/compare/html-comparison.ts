import { anchorOf, escaped, type Fragment, htmlList, htmlPage, htmlTable } from '../report/html-page.ts';
import type { ComparedRow, ReportComparison } from './compare-reports.ts';
import {
  changeText,
  type ComparedFiles,
  countsText,
  intervalText,
  nameOf,
  remarksOn,
  valueText,
  verdictText,
} from './comparison-text.ts';
import { LEAST_CHANGE, type Verdict } from './verdict.ts';

/** The comparison as one page; a row shows where the factor lies. */
export function htmlComparison(comparison: ReportComparison, files: ComparedFiles): string {
  const { rows, worse, onlyBefore, onlyAfter } = comparison;
  const [before, after] = files;
  const groups = [...Map.groupBy(rows, ({ row }) => row.measurement)];
  return htmlPage(`${before}, then ${after}`, [
    `<h1>${escaped(before)}, then ${escaped(after)}</h1>`,
    `<p>${escaped(countsText(rows))}</p>`,
    htmlList('To know', 'warn', remarksOn(comparison, files)),
    htmlList(
      'Worse',
      'bad',
      worse.map((one) => `${nameOf(one.row)}: ${changeText(one)}`),
    ),
    `<p class="soft">${escaped(RULE)}</p>`,
    ...groups.map(([measurement, group]) => section(measurement, group)),
    htmlList(`Only in ${before}`, 'soft', onlyBefore.map(nameOf)),
    htmlList(`Only in ${after}`, 'soft', onlyAfter.map(nameOf)),
  ]);
}

const RULE =
  'A factor above 1 is better. Its bar is where it lies in 99 of 100 cases; within the band nothing has changed that matters.';
const HEAD = ['', 'of', 'before', 'after', 'factor', '', ''];

const section = (measurement: string, rows: readonly ComparedRow[]): Fragment =>
  `<h2 id="${anchorOf(measurement)}">${escaped(measurement)}</h2>\n${htmlTable(HEAD, rows.map(cellsOf))}`;

const KINDS: Readonly<Record<Verdict, string>> = {
  better: 'good',
  worse: 'bad',
  same: 'soft',
  'cannot say': 'warn',
};

function cellsOf(compared: ComparedRow): readonly Fragment[] {
  const { row, before, after, verdict } = compared;
  return [
    escaped(row.what),
    escaped(row.quantity),
    escaped(valueText(before, row.unit)),
    escaped(valueText(after, row.unit)),
    escaped(intervalText(compared)),
    intervalPlot(compared),
    `<span class="${KINDS[verdict]}">${escaped(verdictText(compared))}</span>`,
  ];
}

const WIDTH = 160;
const HEIGHT = 18;
/** Half as good is at the left edge, twice as good at the right one. */
const at = (factor: number): number => ((Math.min(1, Math.max(-1, Math.log2(factor))) + 1) / 2) * WIDTH;

function intervalPlot({ factor, interval }: ComparedRow): Fragment {
  if (!Number.isFinite(factor) || factor <= 0) return '';
  const middle = HEIGHT / 2;
  const [left, right] = [at(1 / (1 + LEAST_CHANGE)), at(1 + LEAST_CHANGE)];
  const bar =
    interval === undefined
      ? ''
      : `<line class="interval" x1="${at(interval.low).toFixed(1)}" x2="${at(interval.high).toFixed(1)}" y1="${middle}" y2="${middle}"/>`;
  return [
    `<svg class="small" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" aria-hidden="true">`,
    `<rect class="same" x="${left.toFixed(1)}" y="0" width="${(right - left).toFixed(1)}" height="${HEIGHT}"/>`,
    `<line class="one" x1="${WIDTH / 2}" x2="${WIDTH / 2}" y1="0" y2="${HEIGHT}"/>`,
    bar,
    `<circle class="round" cx="${at(factor).toFixed(1)}" cy="${middle}" r="4"/></svg>`,
  ].join('');
}
