import { durationText, type Recording, type Scene, shownText } from '@orrery/visualiser/model';
import { cell, columnsOf, fit } from '../cells.ts';
import {
  type LineStyle,
  lostLines,
  rateLine,
  sentenceLines,
  titleLines,
  troubleLines,
  workLines,
} from '../team-lines.ts';
import { shownOf } from '../team-rows.ts';
import { type PageLines, pageLines } from './top-page.ts';
import type { Item, TopView } from './top-view.ts';
import type { LinkStatus } from '../watch/watch-link.ts';

/** What is drawn: what was recorded, up to `position` where it is paused, and how the connection stands. */
export interface Watched {
  readonly recording: Recording;
  readonly scene: Scene;
  readonly status: LinkStatus;
  readonly nowMs: number;
}

export interface FrameSize extends LineStyle {
  readonly rows: number;
}

/** A frame as wide and high as the screen at most, and the lines of it that can be chosen. */
export interface Frame {
  readonly lines: readonly string[];
  readonly items: readonly Item[];
}

/** Rows below which only what is most needed is drawn. */
const ROOMY_ROWS = 20;

export function topFrame(view: TopView, watched: Watched, size: FrameSize): Frame {
  const shown = shownOf(watched.scene);
  const page = pageLines(view, shown, watched.recording, size);
  const items = page.lines.flatMap(({ item }) => item ?? []);
  if (view.isHelp) return { lines: helpLines(size), items };
  const { rows } = size;
  if (watched.scene.position === 0) return { lines: unknownLines(watched, size), items };
  const isFirst = view.page === 'team' && view.opened === undefined;
  const isRoomy = rows >= ROOMY_ROWS;
  const head = [
    headLine(view, watched, size),
    ...sentenceLines(shown, size, isRoomy ? 3 : 2),
    ...(isFirst ? troubleLines(shown, size, Math.max(1, Math.floor(rows / 6))) : []),
    ...(isFirst ? workLines(watched.scene.mission, watched.scene, size).slice(0, isRoomy ? 2 : 1) : []),
    rateLine(watched.scene, size),
    ...lostLines(watched.scene, size),
  ].slice(0, Math.max(1, rows - 4));
  const room = Math.max(1, rows - head.length - 1);
  const lines = [...head, ...scrolled(page, view, room), footLine(view, size)];
  return { lines: lines.slice(0, rows), items };
}

/** Before the team has said anything. */
const unknownLines = ({ status, nowMs }: Watched, { columns, paint }: FrameSize): string[] => [
  paint('bold', fit(`orrery top  ${statusText(status, nowMs)}`, columns)),
  fit('Nothing is known of the team yet', columns),
  paint('dim', fit('q ends', columns)),
];

function headLine({ isPaused }: TopView, { scene, status, nowMs }: Watched, size: FrameSize): string {
  const { columns, paint } = size;
  const said = statusText(status, nowMs);
  const right = isPaused ? `paused, ${said}` : said;
  const room = columns - columnsOf(right) - 2;
  const isLost = status.kind === 'lost';
  if (room < 10) return paint(isLost ? 'red' : 'bold', fit(right, columns));
  const [title = ''] = titleLines(scene, { columns: room, paint: (_, text) => text });
  return `${paint('bold', cell(title, room))}  ${paint(isLost ? 'red' : 'dim', right)}`;
}

export function statusText(status: LinkStatus, nowMs: number): string {
  if (status.kind === 'live') return 'live';
  if (status.kind === 'connecting') return 'connecting';
  return `NOT CONNECTED: ${shownText(status.why)}, again in ${durationText(Math.max(0, status.retryAtMs - nowMs))}`;
}

/** As much of a page as fits, with the chosen line in it. */
function scrolled(
  { fixed, lines }: PageLines,
  { selectedId, opened, scroll }: TopView,
  room: number,
): string[] {
  const top = lines.slice(0, fixed);
  const rest = lines.slice(fixed);
  const size = Math.max(0, room - top.length);
  const most = Math.max(0, rest.length - size);
  const chosen = rest.findIndex(({ item }) => item !== undefined && item.id === selectedId);
  const wanted = opened === undefined ? chosen - Math.floor(size / 2) : scroll;
  const from = Math.min(most, Math.max(0, wanted));
  const shown = [...top, ...rest.slice(from, from + size)].map(({ text }) => text);
  return [...shown, ...Array.from({ length: room - shown.length }, () => '')].slice(0, room);
}

const SHORT_KEYS = ['q ends', 'arrows move', 'Enter shows', 't trouble', 'w work', 'c conversations'];

function footLine(
  { sort, filter, isTyping, isPaused, opened }: TopView,
  { columns, paint }: FrameSize,
): string {
  if (isTyping) return paint('bold', fit(`Filter: ${filter}_  (Enter keeps it, Escape drops it)`, columns));
  const keys = opened === undefined ? SHORT_KEYS : ['q ends', 'arrows scroll', 'Escape goes back'];
  const rest = [
    `s sorts by ${sort}`,
    filter === '' ? '/ filters' : `/ filter "${filter}"`,
    isPaused ? 'p goes on' : 'p pauses',
  ];
  const all = ['? help', ...keys, ...rest];
  return paint('dim', fit(all.join('  '), columns));
}

const HELP: readonly string[] = [
  'orrery top shows a team that runs. It changes nothing there.',
  '',
  'First line   what is watched, for how long, and whether the connection is up',
  'Then         what the team does in a sentence, what is wrong, and how far the work is',
  'STATE        works: a handler runs; waits: for an answer; idle: nothing to do;',
  '             else what its supervisor says: restarting, gave up, parked, stopped',
  'MAIL         envelopes that wait in its mailbox, of how many may',
  'PER S        envelopes it was done with, a second',
  'RESTARTS     how often it was started again lately, of how often it may be',
  'Marks        ✕ is broken now, ! may need somebody, · is worth knowing',
  '',
  'q, Ctrl-C    ends                  Up, Down, j, k  choose a line',
  'Enter        shows what is chosen  Escape          goes back',
  'a  the team                        t  trouble',
  'w  the work                        c  conversations',
  's  sorts the team                  /  filters by name, capability or state',
  'p  pauses                          ?  this help',
  '',
  'Any key goes back',
];

const helpLines = ({ columns, rows }: FrameSize): string[] =>
  HELP.slice(0, rows).map((line) => fit(line, columns));
