import type { Artifact, Task, TaskMessage } from '../../runtime/protocol/task.ts';
import type { TaskOpening } from './task-log.ts';

/**
 * One turn of a task's agent: what it is given, and what it may say meanwhile. When `signal` aborts, the task is cancelled or
 * the engine closes; what is said after that changes nothing.
 *
 * - `task`     as it stood when the turn began.
 * - `message`  what its owner says.
 * - `again`    a former engine began on this message, and ended over it.
 * - `working`  says how far it is.
 * - `artifact` shows what is made; with `append` more of it, `lastChunk` that this is all.
 * - `whenKept` resolves when all that was said is kept, for whoever says much.
 */
export interface Turn {
  readonly task: Task;
  readonly opening: TaskOpening;
  readonly message: TaskMessage;
  readonly again: boolean;
  readonly signal: AbortSignal;
  working(message?: TaskMessage): void;
  artifact(artifact: Artifact, options?: { readonly append?: boolean; readonly lastChunk?: boolean }): void;
  whenKept(): Promise<void>;
}

/** How a turn ends. */
export interface TurnOutcome {
  readonly state: 'completed' | 'failed' | 'rejected' | 'input-required' | 'auth-required';
  readonly message?: TaskMessage | undefined;
}

/** Does the work. What it throws fails the task, with what it says. */
export type RunTurn = (turn: Turn) => Promise<TurnOutcome>;
