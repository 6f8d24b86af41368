import {
  type Choice,
  choiceWords,
  count,
  duration,
  firstLine,
  type LoopEvent,
  overlapWarning,
  printable,
} from '@orrery/ralph-loop';
import type { Hands } from './hand.ts';
import { costOf } from './hand-lines.ts';
import { taskLine } from './task-line.ts';

/** The most characters of a line: reasons may be long. The report has them whole. */
const MAX_LINE = 500;

/**
 * Something that has happened to a change, or to the whole mission, for somebody who reads a log.
 *
 * - `isBad` it is not what one hopes for.
 */
export interface News {
  readonly line: string;
  readonly isBad: boolean;
}

/** The news of an event, with the hands before it; undefined if it is none. What a single tool does is none. */
export function newsOf(event: LoopEvent, hands: Hands): News | undefined {
  const news = told(event, hands);
  return news && { ...news, line: printable(news.line.slice(0, MAX_LINE)) };
}

function told(event: LoopEvent, hands: Hands): News | undefined {
  switch (event.type) {
    case 'task.changed':
      return changeNews(event, hands);
    case 'task.gate':
      return gateNews(event, hands);
    case 'task.coding':
      return event.event.type === 'rate.limited' && hands.tasks.get(event.task)?.limited === undefined
        ? bad(`${event.task}: ${event.agent} waits for its provider: ${firstLine(event.event.reason)}`)
        : undefined;
    case 'mission.paused':
      return bad(`paused by ${event.by}: no task is begun any more`);
    case 'mission.resumed':
      return good(`goes on, as ${event.by} wishes`);
    case 'tasks.overlap':
      return bad(overlapWarning({ path: event.path, ids: event.tasks }));
    case 'limit.near':
      return bad(limitText(event));
    default:
      return undefined;
  }
}

const good = (line: string): News => ({ line, isBad: false });
const bad = (line: string): News => ({ line, isBad: true });

type Changed = Extract<LoopEvent, { type: 'task.changed' }>;

/** An attempt that came to nothing, that a change is waited for, or who was chosen for it among several. */
function changeNews(event: Changed, hands: Hands): News | undefined {
  const { task, status, attempt, agent, why, choice } = event;
  const before = hands.tasks.get(task);
  if (status === 'working' && choice !== undefined) return choiceNews(task, choice);
  if (status === 'held') return bad(`${task} is held until somebody approves it`);
  if (status === 'resting') return bad(`${task} rests: ${firstLine(why)}`);
  if (before === undefined || attempt <= before.attempt || !hands.changes.has(task)) return undefined;
  const cost = costOf(hands, task);
  const by = [before.agent ?? agent, cost && `${cost} so far`]
    .filter((part) => part !== undefined)
    .join(', ');
  return bad(
    `${task}: attempt ${before.attempt}${by === '' ? '' : ` (${by})`} came to nothing: ${firstLine(why)}`,
  );
}

const choiceNews = (task: string, choice: Choice): News => ({
  line: `${task}: ${choiceWords(choice)}`,
  isBad: choice.bids.some(({ out }) => out !== undefined) || choice.answers.length > 1,
});

function gateNews(
  { task, event }: Extract<LoopEvent, { type: 'task.gate' }>,
  hands: Hands,
): News | undefined {
  if (event.type === 'gate.started') return undefined;
  const { gate, passed, why, logFile, durationMs } = event.receipt;
  const where = hands.tasks.get(task)?.status === 'merging' ? ' on the merged files' : '';
  const line = `${task}: gate ${gate} ${passed ? 'passed' : 'failed'}${where} in ${duration(durationMs)}: ${firstLine(why)}`;
  return passed ? good(line) : bad(`${line}  log: ${logFile}`);
}

/** Says how near a limit is. */
export function limitText({ task, what, used, limit }: Extract<LoopEvent, { type: 'limit.near' }>): string {
  const as = UNITS[what];
  return `${task ?? 'the mission'} has used ${as(used)} of ${as(limit)} (${Math.round((used / limit) * 100)} %)`;
}

const UNITS: Readonly<
  Record<Extract<LoopEvent, { type: 'limit.near' }>['what'], (amount: number) => string>
> = {
  tokens: (amount) => count(amount, 'token'),
  costUsd: (amount) => `$${amount.toFixed(2)}`,
  timeMs: duration,
};

/** The line of a task that is over: of a change also what it has cost. */
export const overLine = (event: Changed, hands: Hands): string =>
  taskLine(event, hands.changes.has(event.task) ? { cost: costOf(hands, event.task) } : undefined);
