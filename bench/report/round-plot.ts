import { htmlEscape as html } from 'escape-goat';
import type { Goal } from '../measurement.ts';
import { type Spread, spreadOf } from '../statistics.ts';
import { escaped, type Fragment, shown } from './html-page.ts';
import { type Scale, scaleFor } from './scale.ts';

/** One row of a plot: the values of the rounds, and what they have to reach. */
export interface PlotRow {
  readonly label: string;
  readonly rounds: readonly number[];
  readonly goal?: Goal | undefined;
}

/**
 * - `title`  what it shows, for those who do not see it.
 * - `text`   how a value is written.
 * - `one`    whether a line marks 1.
 */
export interface PlotOptions {
  readonly title: string;
  readonly text: (value: number) => string;
  readonly one?: boolean;
}

const WIDTH = 860;
const LABELS = 250;
const VALUES = 110;
const AREA = WIDTH - LABELS - VALUES;
const ROW = 30;
const TOP = 8;
const AXIS = 24;
const DOT = 2.4;
const LONGEST_LABEL = 38;

/** Rows of dots, one a round from top to bottom, with a box from quartile to quartile and a bar at the median. */
export function roundPlot(rows: readonly PlotRow[], { title, text, one = false }: PlotOptions): Fragment {
  const drawn = rows.filter(({ rounds }) => rounds.length > 0);
  if (drawn.length === 0) return '';
  const marked = one ? [1] : [];
  const [least, most] = [
    Math.min(...drawn.map(nearest), ...marked),
    Math.max(...drawn.map(farthest), ...marked),
  ];
  const scale = scaleFor(least, most, { from: LABELS, width: AREA });
  const bottom = TOP + drawn.length * ROW;
  return [
    html`<svg viewBox="0 0 ${WIDTH} ${bottom + AXIS}" role="img" aria-label="${shown(title)}">`,
    scale.kind === 'linear' ? '' : axisNote(bottom),
    ...scale.ticks.map((tick) => tickMark(scale.at(tick), bottom, text(tick))),
    one ? line('one', scale.at(1), TOP, bottom) : '',
    ...drawn.map((row, index) => rowMarks(row, TOP + index * ROW, { scale, text })),
    '</svg>',
  ].join('\n');
}

/** What must be seen of a row; single rounds far out are drawn at the edge. */
function farthest({ rounds, goal }: PlotRow): number {
  const { lowerQuartile, upperQuartile } = spreadOf(rounds);
  const whisker = upperQuartile + 1.5 * (upperQuartile - lowerQuartile);
  return Math.max(Math.min(whisker, Math.max(...rounds)), upperQuartile, goal?.target ?? 0, goal?.floor ?? 0);
}

const nearest = ({ rounds, goal }: PlotRow): number =>
  Math.min(
    spreadOf(rounds).lowerQuartile,
    goal?.target ?? Number.POSITIVE_INFINITY,
    goal?.floor ?? Number.POSITIVE_INFINITY,
  );

const px = (value: number): string => value.toFixed(1);

const line = (kind: string, x: number, from: number, to: number): Fragment =>
  `<line class="${kind}" x1="${px(x)}" x2="${px(x)}" y1="${px(from)}" y2="${px(to)}"/>`;

const tickMark = (x: number, bottom: number, text: string): Fragment =>
  `${line('grid', x, TOP, bottom)}<text class="soft" x="${px(x)}" y="${bottom + 16}" text-anchor="middle">${escaped(text)}</text>`;

const axisNote = (bottom: number): Fragment =>
  `<text class="soft" x="${LABELS - 40}" y="${bottom + 16}" text-anchor="end">logarithmic</text>`;

interface Drawing {
  readonly scale: Scale;
  readonly text: (value: number) => string;
}

function rowMarks({ label, rounds, goal }: PlotRow, top: number, { scale, text }: Drawing): Fragment {
  const spread = spreadOf(rounds);
  const middle = top + ROW / 2;
  const short = label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label;
  return [
    html`<g><title>${shown(label)}: ${text(spread.median)}</title>`,
    `<text x="${LABELS - 10}" y="${px(middle + 4)}" text-anchor="end">${escaped(short)}</text>`,
    boxOf(spread, top, scale),
    ...rounds.map((value, round) =>
      dot(value, top + 5 + ((ROW - 10) * (round + 0.5)) / rounds.length, scale),
    ),
    line('median', scale.at(spread.median), top + 4, top + ROW - 4),
    ...goalMarks(goal, top, scale),
    `<text x="${WIDTH - VALUES + 12}" y="${px(middle + 4)}">${escaped(text(spread.median))}</text></g>`,
  ].join('');
}

function boxOf({ lowerQuartile, upperQuartile }: Spread, top: number, { at }: Scale): Fragment {
  const [left, right] = [at(lowerQuartile), at(upperQuartile)];
  const width = Math.max(1, right - left);
  return `<rect class="box" x="${px(left)}" y="${px(top + 4)}" width="${px(width)}" height="${ROW - 8}" rx="2"/>`;
}

function dot(value: number, y: number, { at, least, most }: Scale): Fragment {
  const kind = value > most || value < least ? 'beyond' : 'round';
  return `<circle class="${kind}" cx="${px(at(value))}" cy="${px(y)}" r="${DOT}"/>`;
}

/** A floor is a thick line through the row, a target a triangle at its top. */
function goalMarks(goal: Goal | undefined, top: number, { at }: Scale): readonly Fragment[] {
  const { floor, target } = goal ?? {};
  const triangle = (x: number): Fragment => `<path class="target" d="M${px(x - 5)} ${px(top)} h10 l-5 8 z"/>`;
  return [
    ...(floor === undefined ? [] : [line('floor', at(floor), top + 2, top + ROW - 2)]),
    ...(target === undefined ? [] : [triangle(at(target))]),
  ];
}
