import type { Seams } from '../../runtime/protocol/seams.ts';
import { type Artifact, isTaskInterrupted, type TaskMessage } from '../../runtime/protocol/task.ts';
import type { TaskTerms } from '../../runtime/protocol/task-service.ts';
import type { LiveTask, NewChange } from './live-task.ts';
import type { NoteFailure } from '../../runtime/protocol/told-failure.ts';
import { agentMessage, failureParts } from './task-errors.ts';
import { sizeOfChange } from './task-size.ts';
import type { RunTurn, Turn, TurnOutcome } from './turn.ts';

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
  /** What its owner has said and nobody has begun on. */
  readonly waiting: WaitingMessage[];
  /** The turn that goes on. */
  current: AbortController | undefined;
  /** What is shown if the task is ended before its turn. */
  partial: Artifact | undefined;
}

/** Has tasks worked at: one turn of a task after the other, and no more at once than may be. */
export class TaskTurns {
  readonly #deps: TaskTurnsDeps;
  readonly #works = new Map<LiveTask, Work>();
  /** Tasks that have something to do and wait for room, the longest first. */
  readonly #ready = new Set<Work>();
  #running = 0;
  #isClosed = false;

  constructor(deps: TaskTurnsDeps) {
    this.#deps = deps;
  }

  /** Messages of a task that nobody has begun on. */
  waiting(task: LiveTask): number {
    return this.#works.get(task)?.waiting.length ?? 0;
  }

  /** It is worked at, or is to be. */
  isBusy(task: LiveTask): boolean {
    return this.#works.has(task);
  }

  /** Has a message worked at, after those before it. */
  add(task: LiveTask, message: WaitingMessage): void {
    const work = this.#works.get(task) ?? { task, waiting: [], current: undefined, partial: undefined };
    this.#works.set(task, work);
    work.waiting.push(message);
    if (work.current === undefined) this.#ready.add(work);
    this.#startNext();
  }

  /** What the turn that goes on has come to is shown; for whoever ends the task. */
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

  /** Ends all turns; what was not begun on waits for the next engine. */
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

  /** Where its owner has said more meanwhile, that is worked at before the task is done. */
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

  /** False where there is more of the task than may be: it ends here. */
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
