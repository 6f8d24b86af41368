import type { Paint } from '@orrery/ralph-loop';
import {
  durationText,
  isTaskOver,
  type MissionScene,
  orderFor,
  type Scene,
  sentenceOf,
  shownText,
  taskState,
  type TaskScene,
  type Trouble,
} from '@orrery/visualiser/model';
import { cell, columnsOf, fit, numberCell, wrapped } from './cells.ts';
import { type AgentRow, ratesOf, type Shown, type TeamRow, teamRows } from './team-rows.ts';

/** How lines are drawn: so wide, in these styles. */
export interface LineStyle {
  readonly columns: number;
  readonly paint: Paint;
}

/** All that is to be said of a moment, at any length: for paper and pipes. */
export function snapshotLines(shown: Shown, style: LineStyle): string[] {
  const { scene, troubles } = shown;
  return [
    ...titleLines(scene, style),
    ...sentenceLines(shown, style),
    ...block(troubleLines(shown, style, troubles.length)),
    ...block(workLines(scene.mission, scene, style)),
    ...block([rateLine(scene, style), ...lostLines(scene, style)]),
    ...block(teamLines(teamRows(shown, { sort: 'place', filter: '' }), style)),
  ];
}

const block = (lines: readonly string[]): string[] => (lines.length === 0 ? [] : ['', ...lines]);

/** What is watched, and for how long it has run. */
export function titleLines(
  { about, atMs, startedAtMs, mission }: Scene,
  { columns, paint }: LineStyle,
): string[] {
  const ran = durationText(Math.max(0, atMs - startedAtMs));
  const node = about.node === 'local' || about.node === 'this node' ? '' : ` on ${about.node}`;
  const what = mission === undefined || mission.name === about.name ? '' : `: ${mission.name}`;
  return [paint('bold', fit(shownText(`${about.name}${node}${what}, for ${ran}`), columns))];
}

const MOST_OF_SENTENCE = 3;

/** The sentence that says what the team does. */
export const sentenceLines = (
  { scene, waits, troubles }: Shown,
  { columns }: LineStyle,
  most = MOST_OF_SENTENCE,
): string[] => wrapped(shownText(sentenceOf(scene, waits, troubles), 600), columns, most);

/** Readable without colour: every level has a sign of its own. */
const SIGNS = { bad: '✕', warning: '!', note: '·' } as const;
const COLOURS = { bad: 'red', warning: 'yellow', note: 'dim' } as const;

/** What is wrong, the worst first; of more than `most` the last line says how many there are. */
export function troubleLines({ scene, troubles }: Shown, style: LineStyle, most: number): string[] {
  const shown = troubles.length > most ? troubles.slice(0, Math.max(0, most - 1)) : troubles;
  const left = troubles.length - shown.length;
  return [
    ...shown.map((one) => troubleLine(scene, one, style)),
    ...(left === 0 ? [] : [style.paint('dim', fit(`  and ${left} more to look at`, style.columns))]),
  ];
}

const SAYS_SINCE: ReadonlySet<string> = new Set(['wait', 'stalled', 'circle of waits']);

export function troubleLine(
  { atMs }: Scene,
  { level, kind, text, sinceMs, untilMs }: Trouble,
  { columns, paint }: LineStyle,
): string {
  // A wait says itself how long it has been.
  const isTold = sinceMs === undefined || SAYS_SINCE.has(kind);
  const since = isTold ? '' : `${durationText(Math.max(0, atMs - sinceMs))} ago`;
  const until = untilMs === undefined ? '' : `${durationText(Math.max(0, untilMs - atMs))} left`;
  const when = [since, until].filter((part) => part !== '').join(', ');
  const room = columns - columnsOf(when) - 2;
  return paint(
    COLOURS[level],
    `${cell(`${SIGNS[level]} ${shownText(text, 400)}`, Math.max(0, room))}  ${when}`.trimEnd(),
  );
}

const BAR_CELLS = 20;

/** How far the mission is, and what is worked at. */
export function workLines(
  mission: Readonly<MissionScene> | undefined,
  { atMs }: Scene,
  { columns, paint }: LineStyle,
): string[] {
  if (mission === undefined) return [];
  const tasks = [...mission.tasks.values()];
  const over = tasks.filter(({ state }) => isTaskOver(state)).length;
  const share = tasks.length === 0 ? 0 : over / tasks.length;
  const full = Math.round(share * BAR_CELLS);
  const bar = `[${'#'.repeat(full)}${'.'.repeat(BAR_CELLS - full)}]`;
  const working = tasks.filter(({ state }) => taskState(state).phase === 'in hand');
  const names = working.map(({ id, state, agentId, sinceMs }) => {
    const what = state === 'working' || state === 'judging' ? '' : ` ${state}`;
    const by = agentId === undefined ? '' : ` by ${agentId}`;
    return `${id}${what}${by} ${durationText(atMs - sinceMs)}`;
  });
  const failed = tasks.filter(({ state }) => taskState(state).says !== undefined).length;
  const bad = failed === 0 ? '' : `, ${failed} failed`;
  const paused = mission.pausedBy === undefined ? '' : `, paused by ${mission.pausedBy}`;
  const head = shownText(`Work ${bar} ${over} of ${tasks.length} tasks done${bad}${paused}`, 300);
  return [
    paint(failed === 0 && paused === '' ? 'bold' : 'yellow', fit(head, columns)),
    ...(names.length === 0 ? [] : [fit(shownText(`  at ${names.join(', ')}`, 600), columns)]),
  ];
}

/** How a task is marked: readable without colour. */
function signOf(state: string): readonly [string, Parameters<Paint>[0]] {
  const { phase, level, says } = taskState(state);
  if (says !== undefined) return ['✕', 'red'];
  if (level === 'warning') return ['!', 'yellow'];
  if (phase === 'over') return [level === 'good' ? '✓' : '·', 'dim'];
  return [' ', 'reset'];
}

/** A task of a mission. */
export function taskLine(task: TaskScene, { atMs }: Scene, { columns, paint }: LineStyle): string {
  const { id, state, agentId, attempts, reason, gates, sinceMs } = task;
  const refusal = gates.findLast(({ passed }) => !passed);
  const order = orderFor(task);
  const why = order === undefined ? (reason ?? refusal?.reason ?? '') : `type '${order}'`;
  const tries = attempts > 1 ? `attempt ${attempts}` : '';
  const age = isTaskOver(state) ? '' : durationText(Math.max(0, atMs - sinceMs));
  const rest = [agentId ?? '', tries, age, why].filter((part) => part !== '').join(', ');
  const line = `${cell(shownText(state), 10)} ${cell(shownText(id), Math.min(24, Math.floor(columns / 3)))} ${shownText(rest, 300)}`;
  const [sign, colour] = signOf(state);
  return paint(colour, fit(`${sign} ${line}`, columns));
}

/** How much goes on. */
export function rateLine(scene: Scene, { columns, paint }: LineStyle): string {
  const { sent, settled, failed } = ratesOf(scene);
  const parts = [
    `${sent.toFixed(1)} sent a second`,
    `${settled.toFixed(1)} done`,
    ...(failed === 0 ? [] : [`${failed.toFixed(1)} failed`]),
    `${scene.inFlight.size} in flight`,
    `${scene.deadLetterTotal} dead letters`,
  ];
  return paint(failed === 0 ? 'reset' : 'yellow', fit(parts.join(', '), columns));
}

/** Says how much of what happened nobody is shown. */
export const lostLines = ({ leftOut }: Scene, { columns, paint }: LineStyle): string[] =>
  leftOut === 0
    ? []
    : [
        paint(
          'yellow',
          fit(`${leftOut} events were left out under load: what is shown is a sample`, columns),
        ),
      ];

/** The widths of the columns of agents. */
interface Widths {
  readonly name: number;
  readonly status: number;
  readonly doing: number;
  readonly mailbox: number;
  readonly rate: number;
  readonly restarts: number;
}

const MOST_NAME = 24;
const INDENT = 2;
const GAPS = 5;

function widthsFor(rows: readonly TeamRow[], columns: number): Widths {
  const agents = rows.filter((row) => row.kind === 'agent');
  const widest = (of: (row: AgentRow) => string, least: number, most: number): number =>
    Math.min(
      most,
      agents.reduce((width, row) => Math.max(width, columnsOf(of(row))), least),
    );
  const name = widest((row) => row.name, 5, columns < 80 ? 12 : MOST_NAME);
  const status = widest((row) => row.status, 6, 10);
  const mailbox = widest((row) => row.mailbox, 4, 9);
  const rate = widest((row) => row.rate, 5, 7);
  const restarts = widest((row) => row.restarts, 8, 9);
  const doing = Math.max(0, columns - INDENT - name - status - mailbox - rate - restarts - GAPS);
  return { name, status, doing, mailbox, rate, restarts };
}

/** The team as a table; the row with `selectedId` is marked. */
export function teamLines(rows: readonly TeamRow[], style: LineStyle, selectedId?: string): string[] {
  const widths = widthsFor(rows, style.columns);
  return [headLine(widths, style), ...rows.map((row) => teamLine(row, widths, style, selectedId))];
}

function headLine(
  { name, status, doing, mailbox, rate, restarts }: Widths,
  { columns, paint }: LineStyle,
): string {
  const cells = [
    cell('  AGENT', name + INDENT),
    cell('STATE', status),
    cell('DOING', doing),
    numberCell('MAIL', mailbox),
    numberCell('PER S', rate),
    numberCell('RESTARTS', restarts),
  ];
  return paint('dim', fit(cells.join(' '), columns));
}

const BAD_STATUS: ReadonlySet<string> = new Set(['gave up', 'parked']);

function teamLine(
  row: TeamRow,
  widths: Widths,
  { columns, paint }: LineStyle,
  selectedId: string | undefined,
): string {
  if (row.kind !== 'agent') {
    const text = fit(row.kind === 'node' ? row.text : ` ${row.text}`, columns);
    return paint(row.isBad ? 'red' : 'bold', row.isBad ? fit(`✕ ${row.text}`, columns) : text);
  }
  const sign = row.id === selectedId ? '>' : ' ';
  const mark = row.level === undefined ? ' ' : SIGNS[row.level];
  const cells = [
    `${sign}${mark}${cell(row.name, widths.name)}`,
    cell(row.status, widths.status),
    cell(row.doing, widths.doing),
    numberCell(row.mailbox, widths.mailbox),
    numberCell(row.rate, widths.rate),
    numberCell(row.restarts, widths.restarts),
  ];
  const line = fit(cells.join(' '), columns);
  if (row.id === selectedId) return paint('inverse', cell(line, columns));
  if (row.level === 'bad' || BAD_STATUS.has(row.status)) return paint('red', line);
  if (row.level === 'warning') return paint('yellow', line);
  return row.status === 'idle' ? paint('dim', line) : line;
}
