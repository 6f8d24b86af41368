import { isOver, type LoopEvent, printable, type TaskStatus } from '@orrery/ralph-loop';

/** One task on its way; times are those of events. */
interface Way {
  readonly status: TaskStatus;
  readonly estimateMs: number | undefined;
  readonly beganAtMs?: number;
  readonly endedAtMs?: number;
  /** Of the work, as its agent says, in [0, 1]. */
  readonly fraction?: number;
}

/** How far a mission is, as a whole. */
export interface Progress {
  readonly startedAtMs: number;
  readonly maxParallel: number;
  readonly tasks: ReadonlyMap<string, Way>;
}

export const NO_PROGRESS: Progress = { startedAtMs: 0, maxParallel: 1, tasks: new Map() };

/** How far it is after `event`. */
export function advanceProgress(progress: Progress, event: LoopEvent): Progress {
  switch (event.type) {
    case 'mission.started': {
      const tasks = event.tasks.map(({ id, estimateMs }) => [id, { status: 'waiting', estimateMs }] as const);
      return { startedAtMs: event.atMs, maxParallel: event.maxParallel, tasks: new Map(tasks) };
    }
    case 'task.progress':
      return moved(progress, event.task, { fraction: event.fraction });
    case 'task.changed': {
      const { task, status, atMs } = event;
      if (status === 'working') return moved(progress, task, { status, beganAtMs: atMs, fraction: 0 });
      return moved(progress, task, { status, ...(isOver(status) ? { endedAtMs: atMs } : {}) });
    }
    default:
      return progress;
  }
}

function moved(progress: Progress, task: string, change: Partial<Way>): Progress {
  const known = progress.tasks.get(task) ?? { status: 'waiting', estimateMs: undefined };
  return { ...progress, tasks: new Map(progress.tasks).set(task, { ...known, ...change }) };
}

/** `12/19 · types 25 %, tests · 0:34, about 0:50 to go`, in at most `columns`. */
export function progressLine(progress: Progress, nowMs: number, columns: number): string {
  const ways = [...progress.tasks];
  const over = ways.filter(([, { status }]) => isOver(status)).length;
  const left = remainingMs(progress, nowMs);
  const head = `${over}/${ways.length} · `;
  const toGo = left === undefined ? '' : `, about ${clockTime(left)} to go`;
  const tail = ` · ${clockTime(nowMs - progress.startedAtMs)}${toGo}`;
  const room = columns - head.length - tail.length;
  const now = fit(whatRuns(ways), room);
  return fit(`${head}${now}${tail}`, columns);
}

/** What is worked on now; else what is judged; else what it waits for. */
function whatRuns(ways: readonly (readonly [string, Way])[]): string {
  const working = ways.filter(([, { status }]) => status === 'working');
  if (working.length > 0)
    return working
      .map(
        ([id, { fraction = 0 }]) =>
          `${id}${fraction > 0 ? ` ${Math.round(Math.min(1, fraction) * 100)} %` : ''}`,
      )
      .join(', ');
  const judged = ways.filter(([, { status }]) => status === 'judging').map(([id]) => id);
  return judged.length > 0 ? `${judged.join(', ')} checked` : 'giving out tasks';
}

/** From this much of its work on, what an agent says of itself is believed more than an estimate. */
const BELIEVED_FRACTION = 0.1;

/**
 * How long it will take, as far as anybody can tell: the longest task that is left, or all that is left shared out, if that
 * is more. Undefined while there is nothing to reckon with.
 */
export function remainingMs({ tasks, maxParallel }: Progress, nowMs: number): number | undefined {
  const ways = [...tasks.values()];
  const pace = paceOf(ways);
  const usual = usualMs(ways);
  const left = ways
    .filter(({ status }) => !isOver(status) && status !== 'judging')
    .map((way) => leftOf(way, { nowMs, pace, usual }));
  if (left.length === 0 || left.some((ms) => ms === undefined)) return left.length === 0 ? 0 : undefined;
  const known = left as number[];
  return Math.max(...known, known.reduce((sum, ms) => sum + ms, 0) / Math.max(1, maxParallel));
}

function leftOf(
  { status, beganAtMs, fraction = 0, estimateMs }: Way,
  { nowMs, pace, usual }: { nowMs: number; pace: number; usual: number | undefined },
): number | undefined {
  const expected = estimateMs === undefined ? usual : estimateMs * pace;
  if (status !== 'working' || beganAtMs === undefined) return expected;
  const spent = nowMs - beganAtMs;
  if (fraction > BELIEVED_FRACTION) return (spent * (1 - Math.min(1, fraction))) / fraction;
  return expected === undefined ? undefined : Math.max(0, expected - spent);
}

const tookMs = ({ beganAtMs, endedAtMs }: Way): number | undefined =>
  beganAtMs === undefined || endedAtMs === undefined ? undefined : endedAtMs - beganAtMs;

/** How much longer tasks take here than they were expected to, by those that are over; not much more and not much less. */
function paceOf(ways: readonly Way[]): number {
  let expected = 0;
  let taken = 0;
  for (const way of ways) {
    const took = tookMs(way);
    if (took === undefined || way.estimateMs === undefined) continue;
    expected += way.estimateMs;
    taken += took;
  }
  return expected === 0 ? 1 : Math.min(5, Math.max(0.2, taken / expected));
}

/** What a task took that is over, on average. */
function usualMs(ways: readonly Way[]): number | undefined {
  const taken = ways.map(tookMs).filter((ms) => ms !== undefined);
  return taken.length === 0 ? undefined : taken.reduce((sum, ms) => sum + ms, 0) / taken.length;
}

/** `0:34`, `12:05`, `1:00:07`. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, '0'));
  const hours = Math.floor(seconds / 3_600);
  return hours > 0 ? `${hours}:${parts.join(':')}` : parts.join(':').replace(/^0/, '');
}

function fit(text: string, columns: number): string {
  const safe = printable(text);
  return safe.length <= columns ? safe : `${safe.slice(0, Math.max(0, columns - 1))}…`;
}
