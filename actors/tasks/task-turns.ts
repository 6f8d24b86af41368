import type { Seams } from '../../runtime/protocol/seams.ts';
import {
  type Artifact,
  isTaskInterrupted,
  type TaskMessage,
  type Task,
} from '../../runtime/protocol/task.ts';
import type { TaskTerms, TaskOwner } from '../../runtime/protocol/task-service.ts';
import { type LiveTask, type NewChange, sizeOfChange, sizeOfMessage } from './live-task.ts';
import type { NoteFailure } from '../../runtime/protocol/told-failure.ts';
import { agentMessage, failureParts } from './task-errors.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { TaskNote } from './task-of.ts';
import type { TurnMemo } from './turn-plan.ts';
import type { Json, TaskOpening } from './task-log.ts';

/**
 * - `most`     how many turns go on at once, over all tasks.
 * - `makeRoom` for so many bytes more of a task; throws QUOTA_EXCEEDED.
 * - `note`     keeps for the operator what owners are not told.
 */
export interface TaskTurnsDeps {
  readonly seams: Pick<Seams, 'newId'>;
  readonly run: RunTurn;
  readonly most: number;
  readonly makeRoom: (task: LiveTask, bytes: number) => void;
  readonly note: NoteFailure;
}

/** A message that is to be worked at. `again`: the number of the turn in which a former engine had begun on it. */
export interface WaitingMessage {
  readonly message: TaskMessage;
  readonly terms: TaskTerms;
  readonly again?: number | undefined;
}

/** A task that is worked at, or is to be. */
interface Work {
  readonly task: LiveTask;
  /** Messages that no turn has begun on. */
  readonly waiting: WaitingMessage[];
  /** Ends the turn that goes on. */
  current: AbortController | undefined;
  /** The artifact that is shown if the task is ended before its turn. */
  partial: Artifact | undefined;
}

/** Runs the turns of tasks: one after the other within a task, and at most `most` at once. */
export class TaskTurns {
  readonly #deps: TaskTurnsDeps;
  readonly #works = new Map<LiveTask, Work>();
  /** Tasks that have messages and wait for a free turn, the longest waiting first. */
  readonly #ready = new Set<Work>();
  #running = 0;
  #isClosed = false;

  constructor(deps: TaskTurnsDeps) {
    this.#deps = deps;
  }

  /** How many messages of a task no turn has begun on. */
  waiting(task: LiveTask): number {
    return this.#works.get(task)?.waiting.length ?? 0;
  }

  /** Whether the task is worked at, or is to be. */
  isBusy(task: LiveTask): boolean {
    return this.#works.has(task);
  }

  /** Queues a message; its turn comes after those before it. */
  add(task: LiveTask, message: WaitingMessage): void {
    const work = this.#works.get(task) ?? { task, waiting: [], current: undefined, partial: undefined };
    this.#works.set(task, work);
    work.waiting.push(message);
    if (work.current === undefined) this.#ready.add(work);
    this.#startNext();
  }

  /** Shows the partial result of the turn that goes on, before the task is ended. */
  showPartial(task: LiveTask): void {
    const work = this.#works.get(task);
    if (work !== undefined) showPartial(work);
  }

  /** Ends the turn that goes on and those that were to come. */
  cut(task: LiveTask, reason: Error): void {
    const work = this.#works.get(task);
    if (work === undefined) return;
    work.waiting.length = 0;
    this.#ready.delete(work);
    if (work.current === undefined) this.#works.delete(task);
    else work.current.abort(reason);
  }

  /** Ends all turns. Messages that no turn has begun on wait for the next engine. */
  close(reason: Error): void {
    this.#isClosed = true;
    for (const { current } of this.#works.values()) current?.abort(reason);
    this.#ready.clear();
  }

  #startNext(): void {
    while (!this.#isClosed && this.#running < this.#deps.most) {
      const [work] = this.#ready;
      if (work === undefined) return;
      this.#ready.delete(work);
      this.#running += 1;
      void this.#run(work).finally(() => {
        this.#running -= 1;
        this.#startNext();
      });
    }
  }

  async #run(work: Work): Promise<void> {
    const { task, waiting } = work;
    const next = waiting.shift();
    if (next === undefined || task.isOver) {
      this.#works.delete(task);
      return;
    }
    const begins = next.message.messageId;
    const aborting = new AbortController();
    work.current = aborting;
    if (next.again === undefined) task.change({ kind: 'status', state: 'working', begins });
    const number = next.again ?? task.generation;
    const outcome = await this.#outcomeOf(work, next, number, aborting);
    work.current = undefined;
    // What is left is left with everything behind it.
    if (this.#isClosed || outcome === undefined) return;
    this.#conclude(work, begins, outcome);
    if (waiting.length === 0) this.#works.delete(task);
    else this.#ready.add(work);
  }

  async #outcomeOf(
    work: Work,
    next: WaitingMessage,
    number: number,
    aborting: AbortController,
  ): Promise<TurnOutcome | undefined> {
    try {
      await work.task.whenKept();
      return await this.#deps.run(this.#turnOf(work, next, number, aborting));
    } catch (error) {
      return { state: 'failed', message: this.#failure(error) };
    }
  }

  /** Ends a turn. Where its owner has sent more meanwhile, the task goes on with that. */
  #conclude(work: Work, ends: string, { state, message }: TurnOutcome): void {
    const { task, waiting } = work;
    if (state === 'failed') showPartial(work);
    work.partial = undefined;
    const goesOn = waiting.length > 0 && (state === 'completed' || isTaskInterrupted(state));
    const said = message === undefined ? {} : { message };
    task.change({ kind: 'status', state: goesOn ? 'working' : state, ends, ...said });
    if (task.isOver) waiting.length = 0;
  }

  #turnOf(
    work: Work,
    { message, terms, again }: WaitingMessage,
    number: number,
    aborting: AbortController,
  ): Turn {
    const { task } = work;
    const { signal } = aborting;
    const change = (next: NewChange): void => {
      if (signal.aborted) return;
      const bytes = sizeOfChange({ ...next, generation: number, atMs: 0 });
      if (this.#hasRoom(work, aborting, bytes)) task.change(next);
    };
    return {
      task: task.view.read(),
      opening: task.opening,
      message,
      terms,
      number,
      again: again !== undefined,
      memo: task.memo,
      signal,
      working: (said) => change({ kind: 'status', state: 'working', ...(said && { message: said }) }),
      artifact: (artifact, { append = false, lastChunk = false } = {}) =>
        change({ kind: 'artifact', artifact, append, lastChunk }),
      partial: (artifact) => {
        work.partial = artifact;
      },
      remember: (memo) => {
        if (signal.aborted) return;
        task.remember(memo);
        this.#hasRoom(work, aborting, 0);
      },
      whenKept: () => task.whenKept(),
    };
  }

  /** Ends the turn if the task has grown too large; then false. */
  #hasRoom({ task, waiting }: Work, aborting: AbortController, bytes: number): boolean {
    try {
      this.#deps.makeRoom(task, bytes);
      return true;
    } catch (error) {
      task.change({ kind: 'status', state: 'failed', message: this.#failure(error) });
      waiting.length = 0;
      aborting.abort(error);
      return false;
    }
  }

  #failure(error: unknown): TaskMessage {
    const { seams, note } = this.#deps;
    return agentMessage(seams.newId(), failureParts(error, note));
  }
}

function showPartial(work: Work): void {
  const { task, partial } = work;
  work.partial = undefined;
  if (partial !== undefined)
    task.change({ kind: 'artifact', artifact: partial, append: false, lastChunk: true });
}

/** How many earlier messages go with each turn. */
const HISTORY = 100;
const HISTORY_BYTES = 256 * 1024;

/** The note on a turn's envelope about its task. */
export function noteOf({ task, opening, message }: Turn, memo: TurnMemo, hasApprover: boolean): TaskNote {
  const { state, turn, approvals } = memo;
  return {
    taskId: opening.id,
    contextId: opening.contextId,
    agentId: opening.agentId,
    owner: opening.owner,
    taskState: task.status.state,
    message,
    history: newest(task.history.filter((one) => !isSameMessage(one, message))),
    ...(opening.metadata === undefined ? {} : { metadata: opening.metadata }),
    ...(state === undefined ? {} : { state }),
    ...(turn?.answer === undefined ? {} : { answer: turn.answer }),
    approvals,
    hasApprover,
    ...(isOf(memo.taint, opening.owner) ? { isOutside: true } : {}),
  };
}

/** Whether two messages of one id have the same parts. */
export const isSameMessage = (one: TaskMessage, other: TaskMessage): boolean =>
  one.messageId === other.messageId && isDeepStrictEqual(one.parts, other.parts);

/** Whether a taint names the owner itself, by whatever protocol: `a2a:` or `mcp:`, and its id. */
export const isOf = (taint: Taint | undefined, owner: TaskOwner | undefined): boolean =>
  taint?.some((source) => source.slice(source.indexOf(':') + 1) === owner?.principalId) === true;

function newest(history: readonly TaskMessage[]): TaskMessage[] {
  let bytes = 0;
  const found: TaskMessage[] = [];
  for (const message of history.slice(-HISTORY).reverse()) {
    bytes += sizeOfMessage(message);
    if (bytes > HISTORY_BYTES) break;
    found.unshift(message);
  }
  return found;
}

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
 * - `whenKept` resolves when all that was said and remembered is kept: for whoever says much, or goes on only then.
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
