import { toldUpTo } from '../mailbox/commit-log.ts';
import type { EventReport } from '../observe/event-report.ts';
import type { Clock } from '../protocol/seams.ts';
import type { ThreadIncarnation } from './thread-incarnation.ts';

/** How soon it is looked again whether a commit is done: it follows at once on what is told. */
const LOOK_MS = 5;

export interface EventReportsDeps {
  readonly clock: Clock;
  readonly isLiving: (incarnation: number) => boolean;
  readonly give: (report: EventReport) => void;
}

/**
 * What threads tell of envelopes a moment before the marks say so. It is given on when they do, in the order in which it
 * was told; what a thread told without coming to mark it is forgotten with the thread: it is told again by the next one.
 */
export class EventReports {
  readonly #deps: EventReportsDeps;
  readonly #waiting = new Map<ThreadIncarnation, EventReport[]>();
  #isPlanned = false;

  constructor(deps: EventReportsDeps) {
    this.#deps = deps;
  }

  hear(incarnation: ThreadIncarnation, report: EventReport): void {
    const waiting = this.#waiting.get(incarnation);
    if (waiting === undefined) this.#waiting.set(incarnation, [report]);
    else waiting.push(report);
    this.#giveOf(incarnation);
    if (this.#waiting.size > 0) this.#plan();
  }

  /** Gives what counts by now. */
  look(): void {
    for (const incarnation of this.#waiting.keys()) this.#giveOf(incarnation);
  }

  #giveOf(incarnation: ThreadIncarnation): void {
    const waiting = this.#waiting.get(incarnation);
    if (waiting === undefined) return;
    // Its last commit is finished when a dead thread is retired.
    const isOver = !this.#deps.isLiving(incarnation.number);
    const upTo = toldUpTo(incarnation.memories.commitLog);
    let at = 0;
    for (; at < waiting.length; at++) {
      const report = waiting[at] as EventReport;
      const counts = report.t !== 'told' || report.number <= upTo;
      if (!counts && !isOver) break;
      if (counts) this.#deps.give(report);
    }
    if (at === waiting.length) this.#waiting.delete(incarnation);
    else waiting.splice(0, at);
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#deps.clock.setTimer(LOOK_MS, () => {
      this.#isPlanned = false;
      this.look();
      if (this.#waiting.size > 0) this.#plan();
    });
  }
}
