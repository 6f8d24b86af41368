import { reasonOf } from '../../runtime/protocol/errors.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { isTaskInterrupted, type TaskMessage } from '../../runtime/protocol/task.ts';
import type { LiveTask } from './live-task.ts';
import type { RunTurn, Turn, TurnOutcome } from './turn.ts';

export interface TaskTurnsDeps {
  readonly seams: Pick<Seams, 'newId'>;
  readonly run: RunTurn;
  /** How many turns go on at once, over all tasks. */
  readonly most: number;
}

/** A task that is worked at, or is to be. */
interface Work {
  readonly task: LiveTask;
  /** What its owner has said and nobody has begun on. */
  readonly waiting: { readonly message: TaskMessage; readonly again: boolean }[];
  /** The turn that goes on. */
  current: AbortController | undefined;
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

  /** Has a message worked at, after those before it; `again` if a former engine had begun on it. */
  add(task: LiveTask, message: TaskMessage, again = false): void {
    const work = this.#works.get(task) ?? { task, waiting: [], current: undefined };
    this.#works.set(task, work);
    work.waiting.push({ message, again });
    if (work.current === undefined) this.#ready.add(work);
    this.#startNext();
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
    const { message, again } = next;
    const aborting = new AbortController();
    work.current = aborting;
    task.change({ kind: 'status', state: 'working', begins: message.messageId });
    const outcome = await this.#outcomeOf(task, message, again, aborting.signal);
    work.current = undefined;
    if (this.#isClosed) return;
    this.#conclude(work, message.messageId, outcome);
    if (waiting.length === 0) this.#works.delete(task);
    else this.#ready.add(work);
  }

  async #outcomeOf(
    task: LiveTask,
    message: TaskMessage,
    again: boolean,
    signal: AbortSignal,
  ): Promise<TurnOutcome> {
    try {
      await task.whenKept();
      return await this.#deps.run(turnOf(task, message, again, signal));
    } catch (error) {
      return { state: 'failed', message: this.#said(reasonOf(error)) };
    }
  }

  /** Where its owner has said more meanwhile, that is worked at before the task is done. */
  #conclude({ task, waiting }: Work, ends: string, { state, message }: TurnOutcome): void {
    const goesOn = waiting.length > 0 && (state === 'completed' || isTaskInterrupted(state));
    const said = message === undefined ? {} : { message };
    task.change({ kind: 'status', state: goesOn ? 'working' : state, ends, ...said });
    if (task.isOver) waiting.length = 0;
  }

  #said(text: string): TaskMessage {
    return { messageId: this.#deps.seams.newId(), role: 'agent', parts: [{ text }] };
  }
}

function turnOf(task: LiveTask, message: TaskMessage, again: boolean, signal: AbortSignal): Turn {
  const mayChange = (): boolean => !signal.aborted;
  return {
    task: task.view.read(),
    opening: task.opening,
    message,
    again,
    signal,
    working: (said) => {
      if (mayChange()) task.change({ kind: 'status', state: 'working', ...(said && { message: said }) });
    },
    artifact: (artifact, { append = false, lastChunk = false } = {}) => {
      if (mayChange()) task.change({ kind: 'artifact', artifact, append, lastChunk });
    },
    whenKept: () => task.whenKept(),
  };
}
