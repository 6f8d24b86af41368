import { duration, type Paint, printable } from '@orrery/ralph-loop';
import type { Board, Doing } from './board.ts';

const BAR_CELLS = 10;

export interface BoardSize {
  readonly columns: number;
  readonly rows: number;
}

/** Formats the board as lines that fit the screen: a title, a line for each agent, and why the loop goes on. */
export function boardLines(
  board: Board,
  nowMs: number,
  { columns, rows }: BoardSize,
  paint: Paint,
): string[] {
  const accepted = [...board.statuses.values()].filter((status) => status === 'accepted').length;
  const title = `${board.mission}, ${accepted} of ${board.statuses.size} accepted, ${duration(nowMs - board.startedAtMs)}`;
  const width = Math.max(0, ...[...board.agents.keys()].map((id) => id.length));
  const agents = [...board.agents].map(([id, doing]) => {
    const name = `  ${id.padEnd(width)}  `;
    const rest = fit(sentence(doing), columns - name.length);
    return paint('bold', name) + (doing.length === 0 ? paint('dim', rest) : rest);
  });
  // The cursor is below the last line, and a block taller than the screen could not be redrawn.
  const shown = agents.slice(0, Math.max(1, rows - 3));
  return [paint('bold', fit(title, columns)), ...shown, paint('dim', fit(`goes on: ${board.why}`, columns))];
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
