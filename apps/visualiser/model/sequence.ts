import type { ArrowRow, Conversation, NoteRow, Row } from './conversation.ts';
import { durationText, sinceStart } from './durations.ts';
import { shownText } from './shown-text.ts';
import { arrowTip, type SvgNode, svg, svgText } from './svg.ts';

/** The sizes of a sequence diagram, in pixels. */
export const SEQUENCE = { left: 76, column: 190, top: 64, row: 38 } as const;

const MAX_ROWS = 2_000;

/** The conversation as the text of an SVG file. */
export const sequenceSvg = (conversation: Conversation): string => svgText(sequenceDrawing(conversation));

/** The whole diagram as one drawing; of a very long conversation the beginning. */
export function sequenceDrawing(conversation: Conversation): SvgNode {
  const { id, rows } = conversation;
  const shown = rows.slice(0, MAX_ROWS);
  const { width } = sequenceSize(conversation);
  const height = SEQUENCE.top + (shown.length + 1) * SEQUENCE.row;
  const title = `Conversation ${shownText(id, 120)}`;
  const left = rows.length - shown.length + conversation.leftOut;
  return svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': title, class: 'sequence' },
    svg('title', {}, title),
    ...sequenceHead(conversation),
    ...lifelines(conversation, height),
    ...shown.flatMap((row, at) => [sequenceRow(conversation, row, at)]),
    left === 0
      ? undefined
      : svg('text', { class: 'quiet', x: 8, y: height - 10 }, `and ${left} more, which are not drawn`),
  );
}

export function sequenceSize({ participants, rows }: Conversation): {
  readonly width: number;
  readonly height: number;
} {
  return {
    width: SEQUENCE.left + Math.max(1, participants.length) * SEQUENCE.column,
    height: SEQUENCE.top + (rows.length + 1) * SEQUENCE.row,
  };
}

const columnOf = ({ participants }: Conversation, id: string): number => {
  const at = participants.findIndex((one) => one.id === id);
  return SEQUENCE.left + (Math.max(0, at) + 0.5) * SEQUENCE.column;
};

/** The names above the columns, with the thread and node of each. */
export function sequenceHead(conversation: Conversation): SvgNode[] {
  return conversation.participants.map(({ id, places, isSystem }) => {
    const x = columnOf(conversation, id);
    const width = SEQUENCE.column - 24;
    return svg(
      'g',
      {},
      svg('rect', {
        class: isSystem ? 'frame region' : 'box',
        x: x - width / 2,
        y: 8,
        width,
        height: 42,
        rx: 8,
      }),
      svg('text', { x, y: 26, 'text-anchor': 'middle', 'font-size': 13 }, shownText(id, 22)),
      svg(
        'text',
        { class: 'quiet', x, y: 42, 'text-anchor': 'middle', 'font-size': 10 },
        shownText(places.join(', '), 28),
      ),
    );
  });
}

export const lifelines = (conversation: Conversation, height: number): SvgNode[] =>
  conversation.participants.map(({ id }) => {
    const x = columnOf(conversation, id);
    return svg('line', { class: 'life', x1: x, x2: x, y1: 50, y2: height - 8 });
  });

/** One row of the diagram, at its place; `data-row` is its number. */
export function sequenceRow(conversation: Conversation, row: Row, at: number): SvgNode {
  const y = SEQUENCE.top + (at + 0.5) * SEQUENCE.row;
  const before = conversation.rows[at - 1];
  const time = before?.atMs === row.atMs ? '' : sinceStart(row.atMs, conversation.firstMs);
  return svg(
    'g',
    { 'data-row': at },
    svg('title', {}, rowText(row)),
    svg('text', { class: 'quiet', x: 6, y: y + 4, 'font-size': 10 }, time),
    ...(row.kind === 'arrow' ? arrowParts(conversation, row, y) : noteParts(conversation, row, y)),
  );
}

export const isWrong = ({ outcome }: ArrowRow): boolean =>
  outcome === 'refused' || outcome === 'dead-lettered' || outcome === 'expired' || outcome === 'rejected';

/** It never came to whom it was for. */
const isLost = ({ outcome, receivedAtMs }: ArrowRow): boolean =>
  outcome === 'refused' || (outcome === 'dead-lettered' && receivedAtMs === undefined);

function arrowParts(conversation: Conversation, row: ArrowRow, y: number): SvgNode[] {
  const from = columnOf(conversation, row.from);
  const to = columnOf(conversation, row.to);
  const kinds = [row.isAnswer ? 'answer' : '', row.attempt > 1 ? 'retry' : '', isWrong(row) ? 'wrong' : ''];
  const className = ['line', ...kinds].filter((kind) => kind !== '').join(' ');
  const wrong = isWrong(row) ? 'wrong' : '';
  const label = arrowLabel(row);
  const marks = marksOf(row);
  if (from === to) {
    const path = `M${from},${y - 8} h34 v14 h-34`;
    return [
      svg('path', { class: className, d: path }),
      arrowTip({ x: from, y: y + 6 }, { x: from + 10, y: y + 6 }, wrong),
      svg('text', { x: from + 42, y, 'font-size': 11 }, shownText(label, 26)),
      ...(marks === ''
        ? []
        : [
            svg(
              'text',
              { class: wrong === '' ? 'quiet' : 'bad', x: from + 42, y: y + 13, 'font-size': 10 },
              shownText(marks, 30),
            ),
          ]),
    ];
  }
  const lost = isLost(row);
  // What did not arrive ends on its way, in a cross.
  const end = lost ? from + (to - from) * 0.6 : to;
  const middle = (from + to) / 2;
  const room = Math.floor(Math.abs(to - from) / 6.2);
  return [
    svg('line', { class: className, x1: from, x2: end, y1: y + 4, y2: y + 4 }),
    lost ? cross(end, y + 4) : arrowTip({ x: end, y: y + 4 }, { x: from, y: y + 4 }, wrong),
    svg('text', { x: middle, y: y - 2, 'text-anchor': 'middle', 'font-size': 11 }, shownText(label, room)),
    ...(marks === ''
      ? []
      : [
          svg(
            'text',
            {
              class: wrong === '' ? 'quiet' : 'bad',
              x: middle,
              y: y + 16,
              'text-anchor': 'middle',
              'font-size': 10,
            },
            shownText(marks, room),
          ),
        ]),
  ];
}

const cross = (x: number, y: number): SvgNode =>
  svg('path', { class: 'line wrong', d: `M${x - 5},${y - 5} l10,10 M${x - 5},${y + 5} l10,-10` });

const arrowLabel = ({ messageType, capability, attempt }: ArrowRow): string =>
  `${attempt > 1 ? `attempt ${attempt} · ` : ''}${messageType}${capability === undefined ? '' : ` ${capability}`}`;

/** What else there is to an arrow: how it ended, where it came from, what may be spent. */
function marksOf(row: ArrowRow): string {
  const { outcome, code, taint, budget, settledAtMs, receivedAtMs } = row;
  const took =
    settledAtMs === undefined || receivedAtMs === undefined ? undefined : settledAtMs - receivedAtMs;
  const ended =
    outcome === undefined
      ? ''
      : outcome === 'handled'
        ? took !== undefined && took >= 1
          ? `handled in ${durationText(took)}`
          : ''
        : `✕ ${outcome}${code === undefined ? '' : ` ${code}`}`;
  return [
    ended,
    taint === undefined ? '' : `⚑ from ${taint.join(', ')}`,
    budget === undefined ? '' : `◔ ${budget}`,
  ]
    .filter((one) => one !== '')
    .join(' · ');
}

function noteParts(conversation: Conversation, row: NoteRow, y: number): SvgNode[] {
  const x = columnOf(conversation, row.agentId);
  const width = SEQUENCE.column - 30;
  const times = row.times > 1 ? ` (${row.times} times)` : '';
  return [
    svg('rect', {
      class: row.isBad ? 'box wrong' : 'box',
      x: x - width / 2,
      y: y - 11,
      width,
      height: 22,
      rx: 3,
    }),
    svg(
      'text',
      { class: row.isBad ? 'bad' : 'quiet', x, y: y + 4, 'text-anchor': 'middle', 'font-size': 10 },
      shownText(`${row.isBad ? '✕ ' : ''}${row.text}${times}`, 26),
    ),
  ];
}

/** A row in words, for those who do not see it. */
export function rowText(row: Row): string {
  if (row.kind === 'note') return shownText(`${row.agentId}: ${row.text}`, 600);
  const { from, to, reason } = row;
  const marks = marksOf(row);
  const parts = [`${from} to ${to}: ${arrowLabel(row)}`, marks, reason ?? ''].filter((one) => one !== '');
  return shownText(parts.join('; '), 600);
}
