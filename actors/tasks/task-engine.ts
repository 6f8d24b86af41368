import { z } from 'zod';
import { cancelled, invalidOptions, systemStopped } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import {
  isTaskInterrupted,
  isTaskOver,
  Task,
  type TaskChange,
  TaskMessage,
} from '../../runtime/protocol/task.ts';
import { LiveTask } from './live-task.ts';
import { type LeftToDo, leftToDo } from './left-to-do.ts';
import { TaskBook, type TaskPage, type TaskQuery } from './task-book.ts';
import { quotaExceeded, taskNotFound, taskOver } from './task-errors.ts';
import { InMemoryTaskLog, type TaskLog, type TaskOpening, TaskOwner } from './task-log.ts';
import { TaskTurns } from './task-turns.ts';
import type { ViewOptions } from './task-view.ts';
import type { RunTurn } from './turn.ts';

/**
 * - `ttlMs`       how long a task is kept when it is over. @default 24 hours
 * - `tasks`       how many an owner may have; those over make room. @default 1,000
 * - `waiting`     how many messages may wait for a task's agent. @default 16
 * - `turns`       how many turns go on at once, over all tasks. @default 256
 */
const Limits = z.strictObject({
  ttlMs: z
    .number()
    .positive()
    .default(24 * 60 * 60 * 1_000),
  tasks: z.int().positive().default(1_000),
  waiting: z.int().positive().default(16),
  turns: z.int().positive().default(256),
});
export type TaskLimits = z.input<typeof Limits>;

/**
 * - `run`       does the work of a turn.
 * - `log`       where tasks are kept. @default in memory
 * - `onRestart` what becomes of a turn that a former engine had begun: done again, or the task fails with what it says.
 *               @default fails: who did half of it may have done what must not be done twice
 */
export interface TaskEngineOptions {
  readonly seams: Seams;
  readonly run: RunTurn;
  readonly log?: TaskLog;
  readonly limits?: TaskLimits;
  readonly onRestart?: (opening: TaskOpening) => 'again' | { readonly failed: string };
}

/**
 * What an owner says to an agent.
 *
 * - `taskId`    of the task that it belongs to. @default a new one
 * - `contextId` of the conversation. @default that of the task, or a new one
 * - `metadata`  of a new task.
 */
const Said = z.strictObject({
  message: TaskMessage,
  agentId: z.string().min(1),
  taskId: z.string().optional(),
  contextId: z.string().min(1).optional(),
  metadata: Task.shape.metadata,
});
export type Said = z.input<typeof Said>;

/** A message of an owner, and the change that it is. */
interface TakenMessage {
  readonly task: LiveTask;
  readonly generation: number;
}

const SWEEP_MS = 60_000;
const DEFAULT_RESTART = { failed: 'its server ended while it was worked at' };

/**
 * Keeps tasks and has them worked at: one turn of a task after the other, every change numbered and kept before anybody
 * learns of it. A task outlives every request for it, and the process where its log does. A message that its owner sends
 * twice is one message. Nobody sees another one's tasks: they are as if they were not there.
 */
export class TaskEngine {
  readonly #seams: Seams;
  readonly #log: TaskLog;
  readonly #limits: z.output<typeof Limits>;
  readonly #turns: TaskTurns;
  readonly #book = new TaskBook();
  /** The task that an owner's message went to, by both. */
  readonly #messages = new Map<string, TakenMessage>();
  #stopSweeping: () => void = () => undefined;
  #isClosed = false;

  private constructor({ seams, run, log = new InMemoryTaskLog(), limits = {} }: TaskEngineOptions) {
    this.#seams = seams;
    this.#log = log;
    this.#limits = parseOptions(Limits, limits, 'limits');
    this.#turns = new TaskTurns({ seams, run, most: this.#limits.turns });
    this.#sweep();
  }

  /** Takes up what a former engine has left. Fails with INVALID_OPTIONS, and with what the log fails with. */
  static async open(options: TaskEngineOptions): Promise<TaskEngine> {
    const engine = new TaskEngine(options);
    await engine.#takeUp(options.onRestart ?? (() => DEFAULT_RESTART));
    return engine;
  }

  /** How many tasks there are. */
  get size(): number {
    return this.#book.size;
  }

  /**
   * Takes a message in; resolves to its task when that is kept. Said again it changes nothing.
   *
   * Rejects with TASK_NOT_FOUND, TASK_OVER, QUOTA_EXCEEDED, and with INVALID_OPTIONS on what is no message of an owner, or
   * names another conversation than its task's.
   */
  async send(owner: TaskOwner, said: Said): Promise<Task> {
    if (this.#isClosed) throw systemStopped('the task engine is closed');
    const whose = parseOptions(TaskOwner, owner, 'owner');
    const { message, ...parsed } = parseOptions(Said, said, 'said');
    if (message.role !== 'user') throw invalidOptions('said.message.role', message.role, 'user');
    const key = messageKey(whose, message.messageId);
    const taken = this.#messages.get(key) ?? this.#take(whose, message, parsed);
    this.#messages.set(key, taken);
    await taken.task.whenKept(taken.generation);
    return taken.task.view.read();
  }

  /** Rejects with TASK_NOT_FOUND. */
  get(owner: TaskOwner, taskId: string, view?: ViewOptions): Task {
    return this.#find(owner, taskId).view.read(view);
  }

  /** Fails with INVALID_OPTIONS for a page token that is none. */
  list(owner: TaskOwner, query: TaskQuery): TaskPage {
    return this.#book.page(owner, query);
  }

  /** Ends a task, and the work at it; resolves to the task when that is kept. Rejects with TASK_NOT_FOUND and TASK_OVER. */
  async cancel(owner: TaskOwner, taskId: string): Promise<Task> {
    const task = this.#find(owner, taskId);
    if (!task.change({ kind: 'status', state: 'canceled' })) throw taskOver(taskId, task.state, 'canceled');
    this.#turns.cut(task, cancelled(`The task ${taskId}`));
    await task.whenKept();
    return task.view.read();
  }

  /**
   * The task's changes after number `after`, as they are kept, until it is over or `signal` aborts. However many read
   * along, all see the same. Throws TASK_NOT_FOUND.
   */
  changes(
    owner: TaskOwner,
    taskId: string,
    { after = 0, signal }: { after?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<TaskChange, void> {
    return this.#find(owner, taskId).changes(after, signal);
  }

  /** Resolves to the task when it is over, or waits for its owner, or `signal` aborts. Rejects with TASK_NOT_FOUND. */
  async whenIdle(owner: TaskOwner, taskId: string, signal?: AbortSignal): Promise<Task> {
    const task = this.#find(owner, taskId);
    const isIdle = (): boolean => {
      const { state } = task.view.status;
      return isTaskOver(state) || (isTaskInterrupted(state) && !this.#turns.isBusy(task));
    };
    const changes = task.changes(task.view.generation, signal);
    while (!isIdle()) if ((await changes.next()).done === true) break;
    return task.view.read();
  }

  /** Ends all turns. What is not over waits in the log for the next engine. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopSweeping();
    this.#turns.close(systemStopped('the task engine is closed'));
    await Promise.all([...this.#book].map((task) => task.whenKept().catch(() => undefined)));
  }

  #find(owner: TaskOwner, taskId: string): LiveTask {
    const task = this.#book.find(owner, taskId);
    if (task === undefined) throw taskNotFound(taskId);
    return task;
  }

  #take(owner: TaskOwner, message: TaskMessage, said: Omit<z.output<typeof Said>, 'message'>): TakenMessage {
    const { taskId, contextId, agentId, metadata } = said;
    if (taskId !== undefined) return this.#continue(this.#find(owner, taskId), message, contextId);
    this.#makeRoom(owner);
    const { clock, newId } = this.#seams;
    const opening = {
      id: newId(),
      contextId: contextId ?? newId(),
      createdAtMs: clock.now(),
      owner,
      agentId,
      ...(metadata === undefined ? {} : { metadata }),
    };
    const task = this.#live(opening, false);
    this.#book.add(task);
    return this.#tell(task, message);
  }

  #continue(task: LiveTask, message: TaskMessage, contextId: string | undefined): TakenMessage {
    const { id, opening } = task;
    if (contextId !== undefined && contextId !== opening.contextId)
      throw invalidOptions('said.contextId', contextId, `that of the task, ${opening.contextId}`);
    if (task.isOver) throw taskOver(id, task.state, 'continued');
    const { waiting } = this.#limits;
    if (this.#turns.waiting(task) >= waiting) throw quotaExceeded('messages that wait for one task', waiting);
    return this.#tell(task, message);
  }

  #tell(task: LiveTask, message: TaskMessage): TakenMessage {
    task.change({ kind: 'message', message });
    const { generation } = task;
    this.#turns.add(task, message);
    return { task, generation };
  }

  /** `isOpen`: the log has it already. */
  #live(opening: TaskOpening, isOpen: boolean): LiveTask {
    let isLogged = isOpen;
    return new LiveTask(opening, {
      nowMs: () => this.#seams.clock.now(),
      append: (changes) => {
        if (isLogged) return this.#log.append(opening.id, changes);
        isLogged = true;
        return this.#log.open(opening, changes);
      },
      onPublished: (task, changes) => {
        if (changes.some(({ kind }) => kind === 'status') && this.#book.has(task.id)) this.#book.touch(task);
      },
    });
  }

  #makeRoom(owner: TaskOwner): void {
    const { tasks } = this.#limits;
    while (this.#book.countOf(owner) >= tasks) {
      const oldest = this.#book.oldestOver(owner);
      if (oldest === undefined) throw quotaExceeded('tasks of one owner that are not over', tasks);
      this.#forget(oldest);
    }
  }

  #forget(task: LiveTask): void {
    this.#book.remove(task);
    for (const { messageId, role } of task.view.read({ artifacts: false }).history)
      if (role === 'user') this.#messages.delete(messageKey(task.opening.owner, messageId));
    void this.#log.forget(task.id);
  }

  #sweep(): void {
    const before = this.#seams.clock.now() - this.#limits.ttlMs;
    for (const task of this.#book) if (task.isOver && task.view.status.atMs <= before) this.#forget(task);
    this.#stopSweeping = this.#seams.clock.setTimer(SWEEP_MS, () => this.#sweep());
  }

  async #takeUp(onRestart: NonNullable<TaskEngineOptions['onRestart']>): Promise<void> {
    const left: { task: LiveTask; changes: readonly TaskChange[] }[] = [];
    for await (const { opening, changes } of this.#log.load()) {
      const task = this.#live(opening, true);
      task.restore(changes);
      left.push({ task, changes });
    }
    left.sort((one, other) => one.task.view.status.atMs - other.task.view.status.atMs);
    for (const { task, changes } of left) {
      this.#book.add(task);
      this.#resume(task, leftToDo(changes), onRestart);
    }
  }

  #resume(
    task: LiveTask,
    { said, begun, waiting }: LeftToDo,
    onRestart: NonNullable<TaskEngineOptions['onRestart']>,
  ): void {
    const taken = { task, generation: 0 };
    for (const messageId of said) this.#messages.set(messageKey(task.opening.owner, messageId), taken);
    if (task.isOver) return;
    const decided = begun === undefined ? 'again' : onRestart(task.opening);
    if (decided !== 'again') {
      const parts = [{ text: decided.failed }];
      const message: TaskMessage = { messageId: this.#seams.newId(), role: 'agent', parts };
      task.change({ kind: 'status', state: 'failed', message });
      return;
    }
    if (begun !== undefined) this.#turns.add(task, begun, true);
    for (const message of waiting) this.#turns.add(task, message);
  }
}

const messageKey = ({ principalId, tenant }: TaskOwner, messageId: string): string =>
  JSON.stringify([tenant ?? null, principalId, messageId]);
