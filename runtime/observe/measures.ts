import type { AgentStatus } from '../protocol/roster.ts';
import type { ErrorCode } from '../protocol/error-codes.ts';
import type { ToolCount } from './tool-counts.ts';

/** Of so many agents and places at most a scrape has rows of their own: those with most. */
export const MOST_ROWS = 100;

/**
 * What one thread says of itself.
 *
 * - `cpuMs`   processor time of the thread.
 * - `busyMs`  how long its event loop did not wait.
 * - `oldest`  since when the first envelope waits in a mailbox, Unix milliseconds: of those mailboxes with the oldest.
 */
export interface ThreadMeasures {
  readonly cpuMs: number;
  readonly busyMs: number;
  readonly heapBytes: number;
  readonly oldest: readonly OldestWaiting[];
  readonly tools: readonly ToolCount[];
}

export interface OldestWaiting {
  readonly agentId: string;
  readonly sinceMs: number;
}

/** `measures`: absent of a thread that does not answer. */
export interface PlaceMeasures {
  readonly place: string;
  readonly isUp: boolean;
  readonly beats: number;
  readonly measures?: ThreadMeasures;
}

/** `restartsLeft`: how many its group may need before its supervisor gives it up. */
export interface RestartedAgent {
  readonly agentId: string;
  readonly restarts: number;
  readonly restartsLeft: number;
}

/**
 * - `waiting`, `restarted` those with most of it.
 * - `waitingInAll` envelopes, of all agents.
 */
export interface AgentMeasures {
  readonly total: number;
  readonly processes: number;
  readonly byStatus: Readonly<Record<AgentStatus, number>>;
  readonly waitingInAll: number;
  readonly waiting: readonly { readonly agentId: string; readonly waiting: number }[];
  readonly restarted: readonly RestartedAgent[];
}

/** `waiting`: units that were posted and are not written. */
export interface JournalMeasures {
  readonly bytes: number;
  readonly commits: number;
  readonly commitMs: number;
  readonly waiting: number;
  readonly isFailing: boolean;
}

/** All that the control thread gathers for one scrape. */
export interface SystemMeasures {
  readonly counts: Float64Array;
  readonly agents: AgentMeasures;
  readonly places: readonly PlaceMeasures[];
  readonly deadLetters: ReadonlyMap<ErrorCode, number>;
  readonly openBudgets: number;
  /** Undefined without one. */
  readonly journal: JournalMeasures | undefined;
}

/** The `limit` rows with most of it, most first; of equals those that came first. */
export function mostOf<Row>(rows: Iterable<Row>, amountOf: (row: Row) => number, limit = MOST_ROWS): Row[] {
  const most: { readonly row: Row; readonly amount: number }[] = [];
  for (const row of rows) {
    const amount = amountOf(row);
    let at = most.length;
    if (at === limit && amount <= (most[at - 1]?.amount ?? 0)) continue;
    while (at > 0 && (most[at - 1]?.amount ?? 0) < amount) at -= 1;
    most.splice(at, 0, { row, amount });
    if (most.length > limit) most.pop();
  }
  return most.map(({ row }) => row);
}
