import {
  isTaskInterrupted,
  isTaskOver,
  type Task,
  type TaskChange,
  type TaskState,
} from '../../../runtime/protocol/task.ts';
import type { TaskOwner, TaskService } from '../../../runtime/protocol/task-service.ts';
import { abortsWith } from '../../http/exchange.ts';
import type { StreamItem } from '../wire/operations.ts';

/** Whose task is streamed; `signal` ends the stream. */
export interface StreamScope {
  readonly tasks: TaskService;
  readonly owner: TaskOwner;
  readonly signal: AbortSignal;
}

type StreamedChange = Extract<StreamItem, { kind: 'change' }>['change'];
type ChangeItem = Extract<StreamItem, { kind: 'change' }>;

/**
 * What a message leads to: the task as it is, then each change as it is kept, until the task is over, or waits for its
 * owner and has done with the message. The changes, without the owner's own messages.
 */
export const streamOfMessage = (
  scope: StreamScope,
  task: Task,
  messageId: string,
): AsyncIterableIterator<StreamItem, void> => new MessageStream(scope, task, messageId);

/** An iterator by hand: `return` must end a `next` that waits, which a generator cannot. */
class MessageStream implements AsyncIterableIterator<StreamItem, void> {
  readonly #scope: StreamScope;
  readonly #task: Task;
  readonly #messageId: string;
  #state: TaskState;
  #generation: number;
  #changes: AsyncGenerator<TaskChange, void> | undefined;
  #hasBegun = false;
  #isOver = false;

  constructor(scope: StreamScope, task: Task, messageId: string) {
    this.#scope = scope;
    this.#task = task;
    this.#messageId = messageId;
    this.#state = task.status.state;
    this.#generation = task.generation;
  }

  async next(): Promise<IteratorResult<StreamItem, void>> {
    if (this.#isOver) return DONE;
    if (this.#hasBegun) return this.#nextChange();
    this.#hasBegun = true;
    this.#isOver = isTaskOver(this.#state);
    return { done: false, value: { kind: 'task', task: this.#task, isLast: this.#isOver } };
  }

  async return(): Promise<IteratorResult<StreamItem, void>> {
    this.#isOver = true;
    await this.#changes?.return();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #nextChange(): Promise<IteratorResult<StreamItem, void>> {
    const { id: taskId, contextId } = this.#task;
    try {
      const change = await this.#takeChange();
      if (change === undefined) return await this.return();
      if (change.kind === 'status') this.#state = change.state;
      this.#generation = change.generation;
      const isLast = isLastFor(change, this.#messageId);
      if (isLast) await this.return();
      return { done: false, value: { kind: 'change', taskId, contextId, change, isLast } };
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  /** Undefined when nothing follows. */
  async #takeChange(): Promise<StreamedChange | undefined> {
    const { tasks, owner, signal } = this.#scope;
    const { id } = this.#task;
    this.#changes ??= tasks.changes(owner, id, { after: this.#generation, signal });
    for (;;) {
      const next = this.#changes.next();
      // A message that was answered before, and is sent again, has no end of its own.
      if (isTaskInterrupted(this.#state) && (await isIdle(this.#scope, id, this.#generation, next)))
        return undefined;
      const taken = await next;
      if (taken.done === true) return undefined;
      if (taken.value.kind !== 'message') return taken.value;
    }
  }
}

/**
 * A task for whoever comes back to it: the task as it is and what follows; with `after` only what follows that change. Ends
 * when the task is over.
 */
export async function* streamOfTask(
  scope: StreamScope,
  task: Task,
  after: number | undefined,
): AsyncGenerator<StreamItem, void> {
  if (after === undefined) yield { kind: 'task', task, isLast: false };
  yield* changesAfter(scope, task, after ?? task.generation);
}

/** The changes, without the owner's own messages. */
async function* changesAfter(
  { tasks, owner, signal }: StreamScope,
  { id, contextId }: Task,
  after: number,
): AsyncGenerator<ChangeItem, void> {
  for await (const change of tasks.changes(owner, id, { after, signal })) {
    if (change.kind === 'message') continue;
    const isLast = change.kind === 'status' && isTaskOver(change.state);
    yield { kind: 'change', taskId: id, contextId, change, isLast };
  }
}

const DONE: IteratorResult<StreamItem, void> = { done: true, value: undefined };

const isLastFor = (change: TaskChange, messageId: string): boolean =>
  change.kind === 'status' &&
  (isTaskOver(change.state) || (isTaskInterrupted(change.state) && change.ends === messageId));

/** Nobody is at the task, and nothing has changed since it had so many changes. `next`: when something does. */
async function isIdle(
  { tasks, owner, signal }: StreamScope,
  taskId: string,
  generation: number,
  next: Promise<unknown>,
): Promise<boolean> {
  const waiting = abortsWith(signal);
  try {
    const idle = tasks.whenIdle(owner, taskId, waiting.signal);
    const first = await Promise.race([idle, next.then(() => undefined)]);
    return first?.generation === generation;
  } finally {
    waiting.close();
  }
}
