import { MachineHost } from '../../runtime/machine/machine-host.ts';
import { refused } from '../../runtime/protocol/errors.ts';
import { isTaskOver, type TaskChange, type TaskState } from '../../runtime/protocol/task.ts';
import type { TaskTerms } from '../../runtime/protocol/task-service.ts';
import { mayTake, taskMachine } from './task.machine.ts';
import type { Json, LoggedTask, MessageTerms, TaskLog, TaskOpening, TaskWrite } from './task-log.ts';
import { type ChangeSource, TaskChanges } from './task-changes.ts';
import { sizeOfChange, sizeOfJson, sizeOfOpening } from './task-size.ts';
import { TaskView } from './task-view.ts';

type DistributedOmit<Type, Key extends string> = Type extends unknown ? Omit<Type, Key> : never;
/** A change that has no number yet. */
export type NewChange = DistributedOmit<TaskChange, 'generation' | 'atMs'>;

/** In place of a list of its own, of which each task would have several. Never written to. */
const NONE: never[] = [];

/** Its life says where it stands; what follows from that is done here. */
const NO_EFFECTS = {};

/** What all tasks of an engine have in common. */
export interface LiveTaskDeps {
  readonly log: Pick<TaskLog, 'open' | 'append'>;
  readonly nowMs: () => number;
  /** Hears of changes when they are kept. */
  readonly onPublished: (task: LiveTask, changes: readonly TaskChange[]) => void;
  /** Hears by how many bytes there is more of it, or less. */
  readonly onGrown?: (task: LiveTask, bytes: number) => void;
}

/**
 * A task and its changes: numbered when they are made, shown when they are kept. Many may read along, each from any number on
 * and at its own pace; they share what there is, so that a slow one costs nothing.
 */
export class LiveTask implements ChangeSource {
  readonly opening: TaskOpening;
  /** As it was last kept. */
  readonly view: TaskView;
  readonly #deps: LiveTaskDeps;
  /** All that are kept; the one with number n at n - 1. */
  #published: TaskChange[] = [];
  #unkept: TaskChange[] = NONE;
  #unkeptTerms: MessageTerms[] = NONE;
  #isMemoUnkept = false;
  #memo: Json | undefined;
  #memoBytes = 0;
  /** Writes that are not known to have survived. */
  #underWay = 0;
  #lastWrite: Promise<void> | undefined;
  readonly #life = new MachineHost(taskMachine, NO_EFFECTS);
  #generation = 0;
  #bytes: number;
  /** The log has it already. */
  #isLogged: boolean;
  /** Those who have read all there is. */
  #waiting: Set<() => void> | undefined;
  #failure: Error | undefined;

  constructor(opening: TaskOpening, deps: LiveTaskDeps, isLogged = false) {
    this.opening = opening;
    this.#isLogged = isLogged;
    this.view = new TaskView(opening);
    this.#deps = deps;
    this.#bytes = sizeOfOpening(opening);
  }

  get id(): string {
    return this.opening.id;
  }

  /** Where it stands, also when that is not kept yet. */
  get state(): TaskState {
    return this.#life.value;
  }

  get isOver(): boolean {
    return this.#life.isOver;
  }

  /** How many changes it has had, those included that are not kept yet. */
  get generation(): number {
    return this.#generation;
  }

  /** About how much of it there is. */
  get bytes(): number {
    return this.#bytes + this.#memoBytes;
  }

  get memo(): Json | undefined {
    return this.#memo;
  }

  /** What a former engine has kept. Fails with REFUSED for what no task comes to. */
  restore({ changes, memo }: LoggedTask): void {
    for (const change of changes) {
      if (!mayTake(this.#life, change))
        throw refused(`Its change ${change.generation} cannot follow: it is ${this.state}`);
      this.#take(change);
      this.#published.push(change);
      this.view.apply(change);
    }
    if (!this.isOver) this.#setMemo(memo);
  }

  /**
   * Makes a change; false for a status that it cannot come to from where it stands: then nothing has changed. Of a message
   * `terms` are those of it, and `bytes` what it has been found to weigh.
   */
  change(next: NewChange, { terms, bytes }: { terms?: TaskTerms | undefined; bytes?: number } = {}): boolean {
    if (!mayTake(this.#life, next)) return false;
    const change = { ...next, generation: this.#generation + 1, atMs: this.#deps.nowMs() } as TaskChange;
    this.#take(change, bytes);
    if (this.#unkept === NONE) this.#unkept = [change];
    else this.#unkept.push(change);
    if (terms !== undefined && change.kind === 'message')
      this.#unkeptTerms = [...this.#unkeptTerms, [change.message.messageId, terms]];
    if (this.#underWay === 0) this.#write();
    return true;
  }

  /** Keeps something with it that nobody sees; written at once, with all that was changed before. Not when it is over. */
  remember(memo: Json): void {
    if (this.isOver) return;
    this.#setMemo(memo);
    this.#isMemoUnkept = true;
    this.#write();
  }

  /** Resolves when every change up to this number is kept, @default so far. Rejects when the log fails. */
  async whenKept(generation = this.#generation): Promise<void> {
    while (this.view.generation < generation) {
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => this.onNews(resolve));
    }
  }

  /**
   * Its changes after number `after`, as they are kept, until it is over or `signal` aborts. Rejects when the log fails.
   */
  changes(after: number, signal?: AbortSignal): TaskChanges {
    return new TaskChanges(this, after, signal);
  }

  /** It is known to be over: nothing follows what is published. */
  get isEnded(): boolean {
    return isTaskOver(this.view.status.state);
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  /** The change that was kept after so many others. */
  published(index: number): TaskChange | undefined {
    return this.#published[index];
  }

  onNews(tell: () => void): void {
    this.#waiting ??= new Set();
    this.#waiting.add(tell);
  }

  offNews(tell: () => void): void {
    this.#waiting?.delete(tell);
  }

  #take(change: TaskChange, bytes = sizeOfChange(change)): void {
    this.#generation = change.generation;
    this.#bytes += bytes;
    if (change.kind === 'status') this.#life.send({ type: change.state });
    this.#deps.onGrown?.(this, bytes);
  }

  #setMemo(memo: Json | undefined): void {
    const former = this.#memoBytes;
    this.#memo = memo;
    this.#memoBytes = sizeOfJson(memo);
    this.#deps.onGrown?.(this, this.#memoBytes - former);
  }

  /** What comes while some is being kept is kept with the next write, unless somebody cannot wait for that. */
  #write(): void {
    if (this.#failure !== undefined) return;
    const changes = this.#unkept;
    const terms = this.#unkeptTerms;
    const isMemoUnkept = this.#isMemoUnkept;
    this.#unkept = NONE;
    this.#unkeptTerms = NONE;
    this.#isMemoUnkept = false;
    try {
      const keeping = this.#keep({
        changes,
        ...(terms.length > 0 && { terms }),
        ...(isMemoUnkept && this.#memo !== undefined && { memo: this.#memo }),
      });
      if (keeping === undefined && this.#underWay === 0) return this.#publish(changes);
      this.#underWay += 1;
      const before = this.#lastWrite;
      this.#lastWrite = this.#finish(before, keeping, changes);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** After what was given before; what it returns resolves when it survives. */
  #keep(write: TaskWrite): Promise<void> | void {
    const { log } = this.#deps;
    if (this.#isLogged) return log.append(this.opening.key, write);
    this.#isLogged = true;
    return log.open(this.opening, write);
  }

  async #finish(
    before: Promise<void> | undefined,
    keeping: Promise<void> | undefined | void,
    changes: readonly TaskChange[],
  ): Promise<void> {
    try {
      await Promise.all([before, keeping]);
      if (this.#failure === undefined) this.#publish(changes);
    } catch (error) {
      this.#fail(error);
    }
    this.#underWay -= 1;
    if (this.#underWay === 0 && this.#unkept.length > 0) this.#write();
  }

  #fail(error: unknown): void {
    this.#failure ??= error as Error;
    this.#tellNews();
  }

  #publish(changes: readonly TaskChange[]): void {
    if (changes.length === 0) return;
    for (const change of changes) {
      this.#published.push(change);
      this.view.apply(change);
    }
    if (this.isEnded) this.#settle();
    this.#tellNews();
    this.#deps.onPublished(this, changes);
  }

  /** Tasks that are over are kept for long: without what only work needs, and without room for more. */
  #settle(): void {
    this.#published = this.#published.slice();
    this.#setMemo(undefined);
  }

  #tellNews(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const done of waiting) done();
  }
}
