import type { Artifact, Task, TaskMessage } from '../../runtime/protocol/task.ts';
import type { TaskTerms } from '../../runtime/protocol/task-service.ts';
import type { Json, TaskOpening } from './task-log.ts';

/**
 * One turn of a task's agent: what it is given, and what it may say meanwhile. When `signal` aborts, the task is cancelled or
 * the engine closes; what is said after that changes nothing.
 *
 * - `task`     as it stood when the turn began.
 * - `message`  what its owner says, under these `terms`.
 * - `number`   no other turn of the task has it; the same one when the turn is done again.
 * - `again`    a former engine began on this message, and ended over it.
 * - `memo`     what was remembered last, in this turn or in those before.
 * - `working`  says how far it is.
 * - `artifact` shows what is made; with `append` more of it, `lastChunk` that this is all.
 * - `partial`  what is shown if the task is ended before the turn.
 * - `remember` keeps something with the task that nobody sees; written at once, in front of what is sent from here.
 * - `whenKept` resolves when all that was said is kept, for whoever says much.
 */
export interface Turn {
  readonly task: Task;
  readonly opening: TaskOpening;
  readonly message: TaskMessage;
  readonly terms: TaskTerms;
  readonly number: number;
  readonly again: boolean;
  readonly memo: Json | undefined;
  readonly signal: AbortSignal;
  working(message?: TaskMessage): void;
  artifact(artifact: Artifact, options?: { readonly append?: boolean; readonly lastChunk?: boolean }): void;
  partial(artifact: Artifact): void;
  remember(memo: Json): void;
  whenKept(): Promise<void>;
}

/** How a turn ends. */
export interface TurnOutcome {
  readonly state: 'completed' | 'failed' | 'rejected' | 'input-required' | 'auth-required';
  readonly message?: TaskMessage | undefined;
}

/**
 * Does the work. What it throws fails the task, with what it says. Resolving to undefined leaves the turn to the next engine,
 * because the system stops.
 */
export type RunTurn = (turn: Turn) => Promise<TurnOutcome | undefined>;
