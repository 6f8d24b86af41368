import { duration, type Paint, printable } from '@orrery/ralph-loop';
import type { Board, Doing } from './board.ts';
import { costOfAll, handLines } from './hand-lines.ts';

const BAR_CELLS = 10;

export interface BoardSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * Formats the board as lines that fit the screen: a title, a line for each agent, one for each change in hand, a limit that is near,
 * and why the loop goes on.
 */
export function boardLines(
  board: Board,
  nowMs: number,
  { columns, rows }: BoardSize,
  paint: Paint,
): string[] {
  const accepted = [...board.statuses.values()].filter((status) => status === 'accepted').length;
  const cost = costOfAll(board.hands);
  const title = `${board.mission}, ${accepted} of ${board.statuses.size} accepted, ${duration(nowMs - board.startedAtMs)}${cost === undefined ? '' : `, ${cost}`}`;
  const width = Math.max(0, ...[...board.agents.keys()].map((id) => id.length));
  const agents = [...board.agents].map(([id, doing]) => {
    const name = `  ${id.padEnd(width)}  `;
    const rest = fit(sentence(doing), columns - name.length);
    return paint('bold', name) + (doing.length === 0 ? paint('dim', rest) : rest);
  });
  // The cursor is below the last line, and a block taller than the screen could not be redrawn.
  const near = board.near === undefined ? [] : [paint('yellow', fit(board.near, columns))];
  const room = Math.max(1, rows - 3 - near.length);
  const hands = handLines(
    board.hands,
    { columns, rows: Math.max(1, Math.floor(room / 2)), nowMs },
    paint,
  ).slice(0, room - 1);
  const shown = agents.slice(0, Math.max(1, room - hands.length));
  const why = paint('dim', fit(`goes on: ${board.why}`, columns));
  return [paint('bold', fit(title, columns)), ...shown, ...hands, ...near, why];
}

function sentence(doing: readonly Doing[]): string {
  const latest = doing.at(-1);
  if (latest === undefined) return 'idle';
  const { what, fraction, note } = latest;
  const progress = fraction === undefined ? '' : `  ${bar(fraction)}`;
  const more = doing.length > 1 ? `  (and ${doing.length - 1} more)` : '';
  return `${what}${more}${progress}${note === undefined ? '' : `  ${note}`}`;
}

function bar(fraction: number): string {
  const share = Math.min(1, Math.max(0, fraction));
  const full = Math.round(share * BAR_CELLS);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_CELLS - full)}] ${Math.round(share * 100)} %`;
}

function fit(text: string, columns: number): string {
  const safe = printable(text);
  return safe.length <= columns ? safe : safe.slice(0, Math.max(0, columns));
}
