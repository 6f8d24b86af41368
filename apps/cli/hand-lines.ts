import { addedUp, firstLine, isOver, printable, shortUsage, usedBy, type Paint } from '@orrery/ralph-loop';
import { cell, columnsOf, fit } from './cells.ts';
import type { Hand, Hands } from './hand.ts';
import { clockTime } from './progress.ts';

/** A part of a line is not cut shorter than this, columns. */
const LEAST_PART = 12;
const BETWEEN = ' · ';
/** Longer texts would only be cut. */
const MAX_TEXT = 300;
/** The folder of an attempt, before the path of a file in it. */
const WORKTREE = /\S*\/\.orrery\/worktrees\/[^/\s]+\/[^/\s]+\//g;
/** How the feedback of a gate begins. */
const GATE_FAILED = /^The gate "([^"]+)" failed: /;

export interface HandSize {
  readonly columns: number;
  readonly rows: number;
  readonly nowMs: number;
}

/**
 * A line for each task in hand of a mission that changes the repository: its agent, what that does, the file that was changed last,
 * the last gate, the cost, and why it is not the first attempt. None for other missions.
 */
export function handLines(hands: Hands, { columns, rows, nowMs }: HandSize, paint: Paint): string[] {
  const meant = [...hands.tasks].filter(([id, { status }]) => hands.changes.has(id) && isInHand(status));
  const most = Math.max(1, rows);
  const shown = meant.length > most ? meant.slice(0, most - 1) : meant;
  const wide = Math.min(
    Math.floor(columns / 3),
    Math.max(0, ...shown.map(([id]) => columnsOf(printable(id)))),
  );
  const gap = '  '.slice(0, Math.max(0, columns - wide));
  const lines = shown.map(([id, hand]) => {
    const room = columns - wide - gap.length;
    const parts = handParts(hand, { nowMs, cost: costOf(hands, id), columns: room });
    const style = hand.status === 'held' || hand.gate?.passed === false ? 'yellow' : 'reset';
    const rest = paint(style, partsIn(parts, room));
    return `${paint('bold', cell(printable(id), wide))}${gap}${rest}`;
  });
  const more = meant.length - shown.length;
  return more > 0 ? [...lines, paint('dim', fit(`and ${more} more in hand`, columns))] : lines;
}

const isInHand = (status: Hand['status']): boolean =>
  !isOver(status) && status !== 'waiting' && status !== 'ready';

/** What the task has cost so far; undefined if nobody has told. */
export function costOf({ spending }: Hands, id: string): string | undefined {
  const spent = spending.get(id);
  return spent === undefined ? undefined : shortUsage(usedBy(spent));
}

/** What all changes have cost so far; undefined if nobody has told. */
export function costOfAll({ spending, changes }: Hands): string | undefined {
  const all = [...spending].filter(([id]) => changes.has(id)).map(([, spent]) => usedBy(spent));
  return shortUsage(all.reduce(addedUp, {}));
}

interface PartsOptions {
  readonly nowMs: number;
  readonly cost: string | undefined;
  readonly columns: number;
}

function handParts(hand: Hand, { nowMs, cost, columns }: PartsOptions): string[] {
  const { agent, sinceMs, changed, gate } = hand;
  const since = clockTime(nowMs - sinceMs);
  const partsWith = (file: string | undefined): string[] =>
    [
      agent === undefined ? since : `${agent} ${since}`,
      doing(hand),
      file ? `changed ${file}` : undefined,
      gate && gateText(gate),
      cost,
      whyAgain(hand),
    ]
      .filter((part) => part !== undefined)
      .map((part) => printable(part.replace(WORKTREE, '').slice(0, MAX_TEXT)));
  const parts = partsWith(changed);
  // The end of a path says most, and would be cut off first.
  return columnsOf(parts.join(BETWEEN)) <= columns ? parts : partsWith(changed?.split('/').at(-1));
}

/** The number of the attempt, and why it is not the first. */
function whyAgain({ attempt, because }: Hand): string | undefined {
  if (attempt === 1) return undefined;
  const why = because === undefined ? '' : `: ${firstLine(because).replace(GATE_FAILED, '$1 failed: ')}`;
  return `attempt ${attempt}${why}`;
}

function doing({ status, why, tools, isHeard, limited }: Hand): string {
  if (status === 'checking') return 'is checked';
  if (status === 'merging') return 'is merged';
  if (status === 'reviewing') return 'has passed, is reviewed';
  if (status === 'held') return 'has passed, waits until somebody approves it';
  if (status === 'resting') return `rests: ${firstLine(why)}`;
  if (status === 'proposed') return 'is asked to take it on';
  if (status === 'recovering') return `has nobody left: ${firstLine(why)}`;
  if (limited !== undefined) return `waits for its provider: ${firstLine(limited)}`;
  const tool = tools.at(-1);
  if (tool !== undefined) return `${tool.title}${tools.length > 1 ? ` (and ${tools.length - 1} more)` : ''}`;
  return isHeard ? 'waits for its model' : 'begins';
}

function gateText({ name, passed, why = '', tests }: NonNullable<Hand['gate']>): string {
  if (passed === undefined) return `gate ${name} runs`;
  if (!passed) return `gate ${name} failed: ${firstLine(why)}`;
  return `gate ${name} passed${tests === undefined ? '' : `, ${tests} test${tests === 1 ? '' : 's'}`}`;
}

/** The parts in one line of so many columns. The longest are cut first, so that each can still be told. */
export function partsIn(parts: readonly string[], columns: number): string {
  const room = columns - BETWEEN.length * (parts.length - 1);
  const widths = shared(parts.map(columnsOf), room);
  return fit(parts.map((part, at) => fit(part, widths[at] ?? 0)).join(BETWEEN), columns);
}

/** Widths that together fit into the room, as far as none gets shorter than the least. */
function shared(wanted: readonly number[], room: number): readonly number[] {
  const sum = (most: number): number => wanted.reduce((all, width) => all + Math.min(width, most), 0);
  let most = Math.max(0, ...wanted);
  while (most > LEAST_PART && sum(most) > room) most -= 1;
  return wanted.map((width) => Math.min(width, most));
}
