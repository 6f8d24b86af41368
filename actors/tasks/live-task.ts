import { isTaskOver, type TaskChange, type TaskState } from '../../runtime/protocol/task.ts';
import { mayBecome } from './task.machine.ts';
import type { TaskOpening } from './task-log.ts';
import { TaskView } from './task-view.ts';

type DistributedOmit<Type, Key extends string> = Type extends unknown ? Omit<Type, Key> : never;
/** A change that has no number yet. */
export type NewChange = DistributedOmit<TaskChange, 'generation' | 'atMs'>;

export interface LiveTaskDeps {
  /** Keeps changes, after those before; what it returns resolves when they survive. */
  readonly append: (changes: readonly TaskChange[]) => Promise<void> | void;
  readonly nowMs: () => number;
  /** Hears of changes when they are kept. */
  readonly onPublished: (task: LiveTask, changes: readonly TaskChange[]) => void;
}

/**
 * A task and its changes: numbered when they are made, shown when they are kept. Many may read along, each from any number on
 * and at its own pace; they share what there is, so that a slow one costs nothing.
 */
export class LiveTask {
  readonly opening: TaskOpening;
  /** As it was last kept. */
  readonly view: TaskView;
  readonly #deps: LiveTaskDeps;
  /** All that are kept; the one with number n at n - 1. */
  readonly #published: TaskChange[] = [];
  #unkept: TaskChange[] = [];
  #isKeeping = false;
  #state: TaskState = 'submitted';
  #generation = 0;
  /** Those who have read all there is. */
  readonly #waiting = new Set<() => void>();
  #failure: Error | undefined;

  constructor(opening: TaskOpening, deps: LiveTaskDeps) {
    this.opening = opening;
    this.view = new TaskView(opening);
    this.#deps = deps;
  }

  get id(): string {
    return this.opening.id;
  }

  /** Where it stands, also when that is not kept yet. */
  get state(): TaskState {
    return this.#state;
  }

  get isOver(): boolean {
    return isTaskOver(this.#state);
  }

  /** What a former engine has kept. */
  restore(changes: readonly TaskChange[]): void {
    for (const change of changes) {
      this.#take(change);
      this.#published.push(change);
      this.view.apply(change);
    }
  }

  /** Makes a change; false for a status that it cannot come to from where it stands: then nothing has changed. */
  change(next: NewChange): boolean {
    if (this.isOver) return false;
    if (next.kind === 'status' && !mayBecome(this.#state, next.state)) return false;
    const change = { ...next, generation: this.#generation + 1, atMs: this.#deps.nowMs() } as TaskChange;
    this.#take(change);
    this.#unkept.push(change);
    if (!this.#isKeeping) void this.#keep();
    return true;
  }

  /** How many changes it has had, those included that are not kept yet. */
  get generation(): number {
    return this.#generation;
  }

  /** Resolves when every change up to this number is kept, @default so far. Rejects when the log fails. */
  async whenKept(generation = this.#generation): Promise<void> {
    while (this.view.generation < generation) {
      if (this.#failure !== undefined) throw this.#failure;
      await this.#untilNews();
    }
  }

  /**
   * Its changes after number `after`, as they are kept, until it is over or `signal` aborts. Rejects when the log fails.
   */
  async *changes(after: number, signal?: AbortSignal): AsyncGenerator<TaskChange, void> {
    for (let at = after; signal?.aborted !== true; ) {
      const next = this.#published[at];
      if (next !== undefined) {
        at += 1;
        yield next;
      } else if (isTaskOver(this.view.status.state)) return;
      else if (this.#failure !== undefined) throw this.#failure;
      else await this.#untilNews(signal);
    }
  }

  #untilNews(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal?.addEventListener('abort', done);
    });
  }

  #take(change: TaskChange): void {
    this.#generation = change.generation;
    if (change.kind === 'status') this.#state = change.state;
  }

  /** What comes while some are being kept is kept with the next write. */
  async #keep(): Promise<void> {
    this.#isKeeping = true;
    try {
      while (this.#unkept.length > 0) {
        const changes = this.#unkept;
        this.#unkept = [];
        const keeping = this.#deps.append(changes);
        if (keeping !== undefined) await keeping;
        this.#publish(changes);
      }
    } catch (error) {
      this.#failure = error as Error;
    } finally {
      this.#isKeeping = false;
      this.#tellNews();
    }
  }

  #publish(changes: readonly TaskChange[]): void {
    for (const change of changes) {
      this.#published.push(change);
      this.view.apply(change);
    }
    this.#tellNews();
    this.#deps.onPublished(this, changes);
  }

  #tellNews(): void {
    for (const done of [...this.#waiting]) done();
  }
}
