import type { CodingEvent } from 'orrery/coding';
import type { Finding } from '../findings/finding.ts';
import type { GateEvent } from '../gates/run-gates.ts';
import type { Choice } from './choice.ts';
import type { StopReason } from './stop-reason.ts';
import type { TaskStatus } from './task-status.ts';

/**
 * An event of the loop. `atMs` is Unix milliseconds; every `why` is a sentence for people.
 *
 * - `mission.started`   the tasks, how many run at a time, the assigner and the gate.
 * - `assignment.asked`  the assigner is asked about these tasks.
 * - `task.changed`      a task has a new status. `agent` has or had it; `attempt` counts from 1. Once it is over, `findings`
 *                       are those that count, and `summary` is its agent's. `choice` where an agent was just chosen for it,
 *                       and there was a choice.
 * - `task.progress`     progress of its agent; `fraction` in [0, 1].
 * - `task.coding`       what its coding agent does.
 * - `task.gate`         a gate of its change was started, or has ended, with its receipt.
 * - `mission.paused`    no task is begun any more, until it is `mission.resumed`; `by` says whose wish it is.
 * - `tasks.overlap`     several tasks in hand have changed the same file: whichever is merged later may conflict.
 * - `limit.near`        four fifths of a limit are used: of a task, or of the mission.
 * - `progress.lost`     an accepted task could not be stored: a resumed run would do it again.
 * - `loop.goes-on`      what the loop waits for.
 * - `mission.ended`     the last event.
 */
export type LoopEvent = { readonly atMs: number } & (
  | {
      readonly type: 'mission.started';
      readonly mission: string;
      readonly tasks: readonly {
        readonly id: string;
        readonly title: string;
        readonly estimateMs: number | undefined;
      }[];
      readonly maxParallel: number;
      readonly assigner: string;
      readonly gate: string;
    }
  | { readonly type: 'assignment.asked'; readonly agent: string; readonly tasks: readonly string[] }
  | {
      readonly type: 'task.changed';
      readonly task: string;
      readonly title: string;
      readonly status: TaskStatus;
      readonly attempt: number;
      readonly agent: string | undefined;
      readonly why: string;
      readonly findings: readonly Finding[];
      readonly summary?: string | undefined;
      readonly choice?: Choice | undefined;
    }
  | {
      readonly type: 'task.progress';
      readonly task: string;
      readonly agent: string;
      readonly fraction: number;
      readonly note: string | undefined;
    }
  | {
      readonly type: 'task.coding';
      readonly task: string;
      readonly agent: string;
      readonly event: CodingEvent;
    }
  | { readonly type: 'task.gate'; readonly task: string; readonly event: GateEvent }
  | { readonly type: 'progress.lost'; readonly task: string; readonly why: string }
  | { readonly type: 'mission.paused' | 'mission.resumed'; readonly by: string }
  | { readonly type: 'tasks.overlap'; readonly path: string; readonly tasks: readonly string[] }
  | {
      readonly type: 'limit.near';
      readonly task: string | undefined;
      readonly what: 'tokens' | 'costUsd' | 'timeMs';
      readonly used: number;
      readonly limit: number;
    }
  | { readonly type: 'loop.goes-on'; readonly why: string }
  | { readonly type: 'mission.ended'; readonly stopReason: StopReason }
);

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'atMs'> : never;

/** An event without its time, which the loop adds. */
export type LoopNews = WithoutTime<LoopEvent>;
