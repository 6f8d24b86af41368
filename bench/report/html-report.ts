import type {
  BenchReport,
  ComparisonResult,
  ContenderResult,
  ProbeResult,
  RaceResult,
  Result,
} from '../results/bench-report.ts';
import { defectsOf } from '../results/defects.ts';
import { doubtsOf } from '../results/doubts.ts';
import type { GoalStatus } from '../results/goal-status.ts';
import { aboutRows } from './about-rows.ts';
import { goalText } from './goal-text.ts';
import { anchorOf, escaped, type Fragment, htmlList, htmlPage, htmlTable } from './html-page.ts';
import { rate, rateQuartiles, ratio, ratioQuartiles, round } from './number-text.ts';
import { roundPlot } from './round-plot.ts';
import { comparisonName } from '../results/comparison-name.ts';
import { cpuText, memoryText } from './text-report.ts';

/** The report as one page with plots; all names in it are escaped. */
export function htmlReport(report: BenchReport): string {
  const { startedAt, machine, results } = report;
  return htmlPage(`Orrery bench, ${startedAt}`, [
    '<h1>Orrery bench</h1>',
    `<p class="soft">${escaped(`${machine.cores} x ${machine.cpuModel}, ${startedAt}`)}</p>`,
    htmlList('Doubts', 'warn', doubtsOf(report)),
    htmlList('Defects', 'bad', defectsOf(results)),
    '<h2>Where, what and how</h2>',
    htmlTable(
      ['', ''],
      aboutRows(report).map(([label, text]) => [escaped(label), escaped(text)]),
    ),
    goalSection(results),
    contents(results),
    ...results.map(resultSection),
  ]);
}

function contents(results: readonly Result[]): Fragment {
  const items = results.map(({ name }) => `<li>${linkTo(name)}</li>`).join('');
  return `<nav><h2>Measurements</h2><ul>${items}</ul></nav>`;
}

const linkTo = (name: string): Fragment => `<a href="#${anchorOf(name)}">${escaped(name)}</a>`;

/** Everything that has a goal, in one table. */
function goalSection(results: readonly Result[]): Fragment {
  const rows = results.flatMap((result) =>
    result.kind === 'race' ? goalsOfRace(result) : goalsOfProbe(result),
  );
  if (rows.length === 0) return '';
  return `<h2>Goals</h2>\n${htmlTable(['', 'what', 'measured', 'spread', 'goal', ''], rows)}`;
}

const goalsOfRace = ({ name, comparisons }: RaceResult): readonly Fragment[][] =>
  comparisons
    .filter(({ goal }) => goal !== undefined)
    .map((comparison) => [linkTo(name), ...comparisonCells(comparison)]);

const goalsOfProbe = ({ name, readings }: ProbeResult): readonly Fragment[][] =>
  readings
    .filter(({ goal }) => goal !== undefined)
    .map((reading) => [
      linkTo(name),
      escaped(reading.name),
      escaped(`${round(reading.value)} ${reading.unit}`),
      escaped(reading.values === undefined ? '' : reading.values.map(round).join(', ')),
      escaped(goalText(reading.goal, ` ${reading.unit}`)),
      statusCell(reading.goalStatus),
    ]);

const KINDS: Readonly<Record<GoalStatus, readonly [kind: string, sign: string]>> = {
  reached: ['good', '✓'],
  'above floor': ['warn', '~'],
  'below target': ['warn', '↓'],
  'BELOW FLOOR': ['bad', '✗'],
  'no goal': ['soft', ''],
};

function statusCell(status: GoalStatus): Fragment {
  const [kind, sign] = KINDS[status];
  return status === 'no goal' ? '' : `<span class="${kind}">${sign} ${escaped(status)}</span>`;
}

function resultSection(result: Result): Fragment {
  const { name, title } = result;
  const head = `<h2 id="${anchorOf(name)}">${escaped(name)}</h2>\n<p>${escaped(title)}</p>`;
  return [head, ...(result.kind === 'race' ? raceParts(result) : probeParts(result))].join('\n');
}

const RATES_HEAD = ['', 'median', 'quartiles', 'CPU an operation', 'memory'];
const RATIOS_HEAD = ['', 'ratio', 'quartiles', 'goal', ''];
const READING =
  'A dot is a round, the first one on top; a box reaches from quartile to quartile; the bar is the median.';
const READING_GOALS = `${READING} A triangle is a target, a thick line a floor.`;

function raceParts({ name, unit, contenders, comparisons }: RaceResult): readonly Fragment[] {
  const inUnit = (perSecond: number): number => (unit === 'per second' ? perSecond : 1e6 / perSecond);
  const rates = roundPlot(
    contenders.map(({ contender, rate: series }) => ({
      label: contender,
      rounds: (series?.rounds ?? []).map(inUnit),
    })),
    { title: `${name}: what each contender does`, text: (value) => rateTick(value, unit) },
  );
  const ratios = roundPlot(
    comparisons.map((comparison) => ({
      label: comparisonName(comparison),
      rounds: comparison.ratio.rounds,
      goal: comparison.goal,
    })),
    { title: `${name}: ratios inside a round`, text: (value) => `${round(value)}x`, one: true },
  );
  return [
    figure(rates, READING),
    htmlTable(
      RATES_HEAD,
      contenders.map((one) => [escaped(one.contender), ...contenderCells(one, unit)]),
    ),
    figure(ratios, READING_GOALS),
    comparisons.length === 0 ? '' : htmlTable(RATIOS_HEAD, comparisons.map(comparisonCells)),
  ];
}

const rateTick = (value: number, unit: RaceResult['unit']): string =>
  unit === 'per second' ? rate(value, unit) : `${round(value)} us`;

const figure = (plot: Fragment, caption: string): Fragment =>
  plot === '' ? '' : `<figure>${plot}<figcaption>${escaped(caption)}</figcaption></figure>`;

function contenderCells(result: ContenderResult, unit: RaceResult['unit']): readonly Fragment[] {
  const { rate: series, memory, failure, unavailable } = result;
  if (unavailable !== undefined) return [`not measured: ${escaped(unavailable)}`];
  if (failure !== undefined) return [`<span class="bad">✗ FAILED</span>: ${escaped(failure)}`];
  if (series === undefined) return ['no round was run'];
  return [
    rate(series.spread.median, unit),
    rateQuartiles(series.spread, unit),
    cpuText(result),
    memory === undefined ? '' : memoryText(memory),
  ].map(escaped);
}

function comparisonCells(comparison: ComparisonResult): Fragment[] {
  const { ratio: series, goal, goalStatus } = comparison;
  return [
    escaped(comparisonName(comparison)),
    escaped(ratio(series.spread.median)),
    escaped(ratioQuartiles(series.spread)),
    escaped(goalText(goal, 'x')),
    statusCell(goalStatus),
  ];
}

function probeParts({ readings, failure, unavailable }: ProbeResult): readonly Fragment[] {
  const rows = readings.map(({ name, value, unit, note = '', goal, goalStatus }) => [
    ...[name, `${round(value)} ${unit}`, note, goalText(goal, ` ${unit}`)].map(escaped),
    statusCell(goalStatus),
  ]);
  return [
    ...(unavailable === undefined ? [] : [`<p>not measured: ${escaped(unavailable)}</p>`]),
    ...(failure === undefined ? [] : [`<p><span class="bad">✗ FAILED</span>: ${escaped(failure)}</p>`]),
    rows.length === 0 ? '' : htmlTable(['', 'value', '', 'goal', ''], rows),
  ];
}
