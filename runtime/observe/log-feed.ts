import type { SystemEvent, SystemEventType } from '../protocol/system-event.ts';
import type { Clock } from '../protocol/seams.ts';
import { logLine } from './log-line.ts';
import type { LogLine } from './logger.ts';

/** Of each type of event so many lines are written in a window; of the others one says how many they were. */
export const LOG_LINES = 50;
export const LOG_WINDOW_MS = 10_000;

export interface LogFeedDeps {
  readonly clock: Clock;
  readonly give: (line: LogLine) => void;
}

/** Makes a log of what happens, which no flood fills. */
export class LogFeed {
  readonly #deps: LogFeedDeps;
  readonly #seen = new Map<SystemEventType, number>();
  #endWindow: (() => void) | undefined;

  constructor(deps: LogFeedDeps) {
    this.#deps = deps;
  }

  add(event: SystemEvent): void {
    const line = logLine(event);
    if (line === undefined) return;
    const { clock, give } = this.#deps;
    this.#endWindow ??= clock.setTimer(LOG_WINDOW_MS, () => this.#summarise());
    const seen = (this.#seen.get(event.type) ?? 0) + 1;
    this.#seen.set(event.type, seen);
    if (seen <= LOG_LINES) give(line);
  }

  /** Says what was left out so far, and waits for nothing more. */
  close(): void {
    this.#endWindow?.();
    this.#summarise();
  }

  #summarise(): void {
    this.#endWindow = undefined;
    for (const [type, seen] of this.#seen) {
      const leftOut = seen - LOG_LINES;
      if (leftOut <= 0) continue;
      const message = `${type}: ${leftOut} more within ${LOG_WINDOW_MS / 1_000} s have no lines`;
      this.#deps.give({ level: 'warn', fields: { event: type, leftOut }, message });
    }
    this.#seen.clear();
  }
}
