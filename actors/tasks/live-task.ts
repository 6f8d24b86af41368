import { MachineHost } from '../../runtime/machine/machine-host.ts';
import type { StepWatch } from '../../runtime/protocol/step-watch.ts';
import { refused } from '../../runtime/protocol/errors.ts';
import {
  isTaskOver,
  type TaskChange,
  type TaskState,
  type Part,
  type TaskMessage,
  type Artifact,
  type Task,
} from '../../runtime/protocol/task.ts';
import type { TaskTerms, ViewOptions } from '../../runtime/protocol/task-service.ts';
import { mayTake, taskMachine } from './task.machine.ts';
import type { Json, LoggedTask, MessageTerms, TaskLog, TaskOpening, TaskWrite } from './task-log.ts';

type DistributedOmit<Type, Key extends string> = Type extends unknown ? Omit<Type, Key> : never;
/** A change that has no number yet. */
export type NewChange = DistributedOmit<TaskChange, 'generation' | 'atMs'>;

/** One empty list for all tasks; never written to. */
const NONE: never[] = [];

/** The machine has no effects: what follows from its steps is done here. */
const NO_EFFECTS = {};

/** What all tasks of an engine have in common. */
export interface LiveTaskDeps {
  readonly log: Pick<TaskLog, 'open' | 'append'>;
  readonly nowMs: () => number;
  /** Called with changes when they are written. */
  readonly onPublished: (task: LiveTask, changes: readonly TaskChange[]) => void;
  /** Called once when the log did not take a change: nothing is written any more. */
  readonly onFailed?: (task: LiveTask, error: unknown) => void;
  /** Of the tasks' machines, whose ids are the tasks'. */
  readonly steps?: StepWatch | undefined;
  /** Called with the bytes by which the task has grown or shrunk. */
  readonly onGrown?: (task: LiveTask, bytes: number) => void;
}

/**
 * A task and its changes: numbered when they are made, shown when they are kept. Many may read along, each from any number on
 * and at its own pace; they share what there is, so that a slow one costs nothing.
 */
export class LiveTask implements ChangeSource {
  readonly opening: TaskOpening;
  /** The task as it was last written. */
  readonly view: TaskView;
  readonly #deps: LiveTaskDeps;
  /** All written changes; number n is at n - 1. */
  #published: TaskChange[] = [];
  #unkept: TaskChange[] = NONE;
  #unkeptTerms: MessageTerms[] = NONE;
  #isMemoUnkept = false;
  #memo: Json | undefined;
  #memoBytes = 0;
  /** Writes whose end is not known yet. */
  #underWay = 0;
  #lastWrite: Promise<void> | undefined;
  readonly #life: MachineHost<typeof taskMachine>;
  #generation = 0;
  #bytes: number;
  /** Whether the log has the task already. */
  #isLogged: boolean;
  /** Readers that wait for more changes. */
  #waiting: Set<() => void> | undefined;
  #failure: Error | undefined;

  constructor(opening: TaskOpening, deps: LiveTaskDeps, isLogged = false) {
    this.opening = opening;
    this.#isLogged = isLogged;
    this.view = new TaskView(opening);
    this.#deps = deps;
    const { steps } = deps;
    this.#life = new MachineHost(
      taskMachine,
      steps === undefined ? NO_EFFECTS : { id: opening.id, watch: steps },
    );
    this.#bytes = sizeOfOpening(opening);
  }

  get id(): string {
    return this.opening.id;
  }

  /** The task's state, also before it is written. */
  get state(): TaskState {
    return this.#life.value;
  }

  get isOver(): boolean {
    return this.#life.isOver;
  }

  /** How many changes it has had, unwritten ones included. */
  get generation(): number {
    return this.#generation;
  }

  /** The task's size in bytes, by estimate. */
  get bytes(): number {
    return this.#bytes + this.#memoBytes;
  }

  get memo(): Json | undefined {
    return this.#memo;
  }

  /** Restores a task that a former engine has written. Fails with REFUSED for changes that no task can have. */
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
   * Makes a change; false for a status that the task cannot have now, and when its log has failed, which changes nothing. For a message, `terms` are its
   * terms and `bytes` its size.
   */
  change(next: NewChange, { terms, bytes }: { terms?: TaskTerms | undefined; bytes?: number } = {}): boolean {
    if (this.#failure !== undefined || !mayTake(this.#life, next)) return false;
    const change = { ...next, generation: this.#generation + 1, atMs: this.#deps.nowMs() } as TaskChange;
    this.#take(change, bytes);
    if (this.#unkept === NONE) this.#unkept = [change];
    else this.#unkept.push(change);
    if (terms !== undefined && change.kind === 'message')
      this.#unkeptTerms = [...this.#unkeptTerms, [change.message.messageId, terms]];
    if (this.#underWay === 0) this.#write();
    return true;
  }

  /** Writes a memo that no caller sees, with all changes before it. Does nothing when the task is over. */
  remember(memo: Json): void {
    if (this.isOver) return;
    this.#setMemo(memo);
    this.#isMemoUnkept = true;
    this.#write();
  }

  /** Resolves when all changes and the memo so far are kept. Rejects when the log fails. */
  async whenKept(): Promise<void> {
    const generation = this.#generation;
    if (this.#underWay > 0) await this.#lastWrite;
    if (this.#failure !== undefined) throw this.#failure;
    await this.whenChangeKept(generation);
  }

  /** Resolves when every change up to this number is kept. Rejects when the log fails. */
  async whenChangeKept(generation: number): Promise<void> {
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

  /** Whether the task is over, so that no change follows. */
  get isEnded(): boolean {
    return isTaskOver(this.view.status.state);
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  /** The written change at this index. */
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

  /** Writes what is new. Changes that come meanwhile go with the next write, unless somebody cannot wait for that. */
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

  /** Gives the log a write, after those before it. Resolves when it survives. */
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
    const isFirst = this.#failure === undefined;
    this.#failure ??= error as Error;
    this.#tellNews();
    if (isFirst) this.#deps.onFailed?.(this, error);
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

  /** Frees what only work needs, and spare capacity: tasks that are over are kept for long. */
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

/** Bytes of an object's names and structure, by estimate. */
const FRAME_BYTES = 64;

/** About how much memory a change takes, in bytes. A chunk costs what the chunk holds. */
export function sizeOfChange(change: TaskChange): number {
  if (change.kind === 'artifact') return FRAME_BYTES + sizeOfParts(change.artifact.parts);
  return change.message === undefined ? FRAME_BYTES : sizeOfSaid(change.message);
}

/** The size of a task without any change. */
const sizeOfOpening = ({ id, contextId, metadata }: TaskOpening): number =>
  FRAME_BYTES + id.length + contextId.length + sizeOfJson(metadata);

/** The size of a message. */
export const sizeOfSaid = (message: TaskMessage): number => FRAME_BYTES + sizeOfMessage(message);

export const sizeOfMessage = ({ parts, metadata }: TaskMessage): number =>
  sizeOfParts(parts) + sizeOfJson(metadata);

const sizeOfParts = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => sum + sizeOfPart(part), 0);

function sizeOfPart(part: Part): number {
  const { metadata } = part;
  const facts = FRAME_BYTES + (metadata === undefined ? 0 : sizeOfJson(metadata));
  if ('text' in part) return facts + part.text.length;
  if ('raw' in part) return facts + part.raw.length;
  if ('url' in part) return facts + part.url.length;
  return facts + sizeOfJson(part.data);
}

/** Bytes of a number, a truth value or a list's structure, by estimate. */
const SMALL_BYTES = 8;

/** About the length of a value's JSON, without writing it: for long texts that would be most of the work. */
function sizeOfJson(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return value.length + SMALL_BYTES;
  if (typeof value !== 'object' || value === null) return SMALL_BYTES;
  let size = SMALL_BYTES;
  if (Array.isArray(value)) for (const item of value) size += sizeOfJson(item);
  else
    for (const name of Object.keys(value))
      size += name.length + SMALL_BYTES + sizeOfJson((value as Record<string, unknown>)[name]);
  return size;
}

/** What changes are read from. `onNews` calls back once, when there are more, or will be no more. */
export interface ChangeSource {
  readonly isEnded: boolean;
  readonly failure: Error | undefined;
  published(index: number): TaskChange | undefined;
  onNews(tell: () => void): void;
  offNews(tell: () => void): void;
}

type Taken = IteratorResult<TaskChange, void>;

interface Reader {
  readonly resolve: (taken: Taken) => void;
  readonly reject: (error: Error) => void;
}

const DONE: Taken = { done: true, value: undefined };

/**
 * Changes after one number, as they are kept, until there will be none, or `signal` aborts. Rejects when the source fails.
 *
 * By hand rather than a generator: `return` ends whatever waits for the next one, where a generator would wait for it first.
 */
export class TaskChanges implements AsyncGenerator<TaskChange, void> {
  readonly #source: ChangeSource;
  readonly #signal: AbortSignal | undefined;
  #at: number;
  #isOver = false;
  #isListening = false;
  /** Readers that wait, in their order. */
  #readers: Reader[] | undefined;

  constructor(source: ChangeSource, after: number, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#at = after;
    this.#signal = signal;
  }

  next(): Promise<Taken> {
    return new Promise((resolve, reject) => {
      const reader = { resolve, reject };
      if (this.#readers !== undefined) this.#readers.push(reader);
      else if (!this.#answer(reader)) this.#await(reader);
    });
  }

  return(): Promise<Taken> {
    this.#end();
    return Promise.resolve(DONE);
  }

  throw(error: unknown): Promise<Taken> {
    this.#end();
    return Promise.reject(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
  }

  /** Answers a reader; false when there is nothing to answer with yet. */
  #answer({ resolve, reject }: Reader): boolean {
    if (this.#signal?.aborted === true) this.#end();
    if (this.#isOver) {
      resolve(DONE);
      return true;
    }
    const { failure, isEnded } = this.#source;
    const value = this.#source.published(this.#at);
    if (value !== undefined) {
      this.#at += 1;
      resolve({ done: false, value });
      return true;
    }
    if (!isEnded && failure === undefined) return false;
    this.#end();
    if (failure === undefined) resolve(DONE);
    else reject(failure);
    return true;
  }

  #await(reader: Reader): void {
    this.#readers = [reader];
    this.#source.onNews(this.#hear);
    if (this.#isListening) return;
    this.#isListening = true;
    this.#signal?.addEventListener('abort', this.#stop);
  }

  readonly #hear = (): void => {
    const readers = this.#readers ?? [];
    for (let first = readers.shift(); first !== undefined; first = readers.shift()) {
      if (this.#answer(first)) continue;
      readers.unshift(first);
      return this.#source.onNews(this.#hear);
    }
    this.#readers = undefined;
  };

  readonly #stop = (): void => this.#end();

  /** Tells readers that no change follows. */
  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#isListening) this.#signal?.removeEventListener('abort', this.#stop);
    const readers = this.#readers;
    if (readers === undefined) return;
    this.#readers = undefined;
    this.#source.offNews(this.#hear);
    for (const { resolve } of readers) resolve(DONE);
  }
}

/** A task as its changes make it. A chunk costs what the chunk holds, however much there is already. */
class TaskView {
  readonly id: string;
  readonly contextId: string;
  readonly createdAtMs: number;
  readonly #metadata: Task['metadata'];
  readonly #history: TaskMessage[] = [];
  readonly #artifacts = new Map<string, Artifact>();
  /** Artifacts that were copied from their change, because chunks were added. */
  #grown: Set<string> | undefined;
  #status: Task['status'];
  /** The message of the last status, until something follows. */
  #last: TaskMessage | undefined;
  #generation = 0;

  constructor({
    id,
    contextId,
    createdAtMs,
    metadata,
  }: Pick<Task, 'id' | 'contextId' | 'createdAtMs' | 'metadata'>) {
    this.id = id;
    this.contextId = contextId;
    this.createdAtMs = createdAtMs;
    this.#metadata = metadata;
    this.#status = { state: 'submitted', atMs: createdAtMs };
  }

  get status(): Task['status'] {
    return this.#status;
  }

  get generation(): number {
    return this.#generation;
  }

  get history(): readonly TaskMessage[] {
    return this.#history;
  }

  apply(change: TaskChange): void {
    this.#generation = change.generation;
    switch (change.kind) {
      case 'status': {
        const { state, message, atMs } = change;
        this.#remember();
        this.#status = { state, atMs, ...(message === undefined ? {} : { message }) };
        this.#last = message;
        return;
      }
      case 'message':
        this.#remember();
        this.#history.push(change.message);
        return;
      case 'artifact':
        this.#add(change.artifact, change.append);
        return;
    }
  }

  /** The task as it is now; what changes later does not show in it. */
  read({ historyLength, artifacts = true }: ViewOptions = {}): Task {
    const history = historyLength === undefined ? this.#history : newest(this.#history, historyLength);
    return {
      id: this.id,
      contextId: this.contextId,
      status: this.#status,
      artifacts: artifacts
        ? [...this.#artifacts.values()].map((one) => ({ ...one, parts: [...one.parts] }))
        : [],
      history: [...history],
      generation: this.#generation,
      createdAtMs: this.createdAtMs,
      ...(this.#metadata === undefined ? {} : { metadata: this.#metadata }),
    };
  }

  /** Moves the last status message into the history, when the conversation goes on. */
  #remember(): void {
    if (this.#last !== undefined) this.#history.push(this.#last);
    this.#last = undefined;
  }

  /** Adds a chunk to an artifact. The first chunk is shared with its change; it is copied when another one follows. */
  #add(artifact: Artifact, append: boolean): void {
    const { artifactId } = artifact;
    const known = append ? this.#artifacts.get(artifactId) : undefined;
    if (known === undefined) {
      this.#grown?.delete(artifactId);
      this.#artifacts.set(artifactId, artifact);
    } else if (this.#grown?.has(artifactId) === true) known.parts.push(...artifact.parts);
    else {
      this.#artifacts.set(artifactId, { ...known, parts: [...known.parts, ...artifact.parts] });
      this.#grown ??= new Set();
      this.#grown.add(artifactId);
    }
  }
}

const newest = <One>(all: readonly One[], count: number): readonly One[] =>
  count === 0 ? [] : all.slice(-count);
