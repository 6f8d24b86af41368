import { isOver, type LoopEvent, printable, type TaskStatus } from '@orrery/ralph-loop';

/** The progress of one task. Times are those of events. */
export interface Way {
  readonly status: TaskStatus;
  readonly estimateMs: number | undefined;
  readonly beganAtMs?: number;
  readonly endedAtMs?: number;
  /** How much is done, as its agent reports, in [0, 1]. */
  readonly fraction?: number;
}

/** The progress of a mission. */
export interface Progress {
  readonly startedAtMs: number;
  readonly maxParallel: number;
  readonly tasks: ReadonlyMap<string, Way>;
  /** Who has paused it; undefined while it goes on. */
  readonly pausedBy?: string | undefined;
}

export const NO_PROGRESS: Progress = { startedAtMs: 0, maxParallel: 1, tasks: new Map() };

/** Returns the progress after an event. */
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
    case 'mission.paused':
      return { ...progress, pausedBy: event.by };
    case 'mission.resumed':
      return { ...progress, pausedBy: undefined };
    default:
      return progress;
  }
}

function moved(progress: Progress, task: string, change: Partial<Way>): Progress {
  const known = progress.tasks.get(task) ?? { status: 'waiting', estimateMs: undefined };
  return { ...progress, tasks: new Map(progress.tasks).set(task, { ...known, ...change }) };
}

/** The facts for a line of progress. */
export interface LineOptions {
  readonly nowMs: number;
  /** The time until the end, if known. */
  readonly leftMs?: number | undefined;
  /** What coding agents have used, if they have told. */
  readonly cost?: string | undefined;
  readonly columns: number;
}

/** Formats progress as `12/19 · types 25 %, tests · 0:34, about 0:50 to go`, in at most `columns`. */
export function progressLine(progress: Progress, { nowMs, leftMs, cost, columns }: LineOptions): string {
  const ways = [...progress.tasks];
  const over = ways.filter(([, { status }]) => isOver(status)).length;
  const head = `${over}/${ways.length} · `;
  const toGo = leftMs === undefined ? '' : `, about ${clockTime(leftMs)} to go`;
  const used = cost === undefined ? '' : ` · ${cost}`;
  const tail = `${used} · ${clockTime(nowMs - progress.startedAtMs)}${toGo}`;
  const room = columns - head.length - tail.length;
  const paused = progress.pausedBy === undefined ? '' : `paused by ${progress.pausedBy}; `;
  const now = fit(`${paused}${whatRuns(ways)}`, room);
  return fit(`${head}${now}${tail}`, columns);
}

/** The tasks that are worked at; else those that something else is done with; else that tasks are given out. */
function whatRuns(ways: readonly (readonly [string, Way])[]): string {
  const working = ways.filter(([, { status }]) => status === 'working');
  if (working.length > 0)
    return working
      .map(
        ([id, { fraction = 0 }]) =>
          `${id}${fraction > 0 ? ` ${Math.round(Math.min(1, fraction) * 100)} %` : ''}`,
      )
      .join(', ');
  for (const [statuses, what] of OTHERWISE) {
    const meant = ways.filter(([, { status }]) => statuses.includes(status)).map(([id]) => id);
    if (meant.length > 0) return `${meant.join(', ')} ${what}`;
  }
  return 'giving out tasks';
}

/** What is done with tasks that nobody works at. */
const OTHERWISE: readonly (readonly [readonly TaskStatus[], string])[] = [
  [['judging', 'checking'], 'checked'],
  [['merging'], 'merged'],
  [['reviewing'], 'reviewed'],
  [['held'], 'held until somebody approves'],
  [['resting'], 'resting'],
];

/** Formats a duration as `0:34`, `12:05` or `1:00:07`. */
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
