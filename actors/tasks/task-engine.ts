import {
  cancelled,
  deadlineExceeded,
  invalidOptions,
  OrreryError,
  reasonOf,
  systemStopped,
} from '../../runtime/protocol/errors.ts';
import type { StepWatch } from '../../runtime/protocol/step-watch.ts';
import { warnOf } from '../../runtime/protocol/warn-of.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { Seams, Clock } from '../../runtime/protocol/seams.ts';
import {
  isTaskInterrupted,
  isTaskOver,
  type Task,
  type TaskChange,
  type TaskMessage,
} from '../../runtime/protocol/task.ts';
import {
  type MessageAnswer,
  Said,
  SaidForGood,
  type TaskNews,
  TaskOwner,
  type TaskPage,
  type TaskQuery,
  type TaskService,
  TaskTerms,
  type ViewOptions,
} from '../../runtime/protocol/task-service.ts';
import type { NoteFailure } from '../../runtime/protocol/told-failure.ts';
import {
  type LeftToDo,
  leftToDo,
  type OpenMessage,
  InMemoryTaskLog,
  type Json,
  type LoggedTask,
  type TaskLog,
  type TaskOpening,
} from './task-log.ts';
import { LiveTask, type LiveTaskDeps, sizeOfSaid } from './live-task.ts';
import { ownerKey, TaskIndex, TaskQuota } from './task-index.ts';
import {
  agentMessage,
  failureParts,
  quotaExceeded,
  taskGenerationMismatch,
  taskNotFound,
  taskOver,
} from './task-errors.ts';
import { isSameMessage, TaskTurns, type WaitingMessage, type RunTurn } from './task-turns.ts';
import { MAX_TIMER_MS } from '../../runtime/protocol/milliseconds.ts';
import { z } from 'zod';

/** A message before it is accepted. `memo`: what its task's agent remembers. */
export interface AskedMessage {
  readonly owner: TaskOwner;
  readonly agentId: string;
  readonly message: TaskMessage;
  readonly terms: TaskTerms;
  readonly memo: Json | undefined;
}

/** A message that may be answered without a task. `signal` aborts when nobody waits for the answer. */
export interface AnsweredMessage extends AskedMessage {
  readonly contextId: string;
  readonly signal: AbortSignal;
}

/**
 * - `run`       does the work of a turn.
 * - `check`     throws what keeps a message from being taken in. @default nothing does
 * - `answer`    answers a message without a task; undefined of one that is to have one. @default all have one
 * - `mayAnswer` whether an agent answers any message so; of one that does not, `answer` is not asked. @default each may
 * - `log`       where tasks are kept. @default in memory
 * - `onRestart` what becomes of a turn, by its number, that a former engine had begun: it is done again, or the task fails with
 *               what this returns. @default fails, because half of it may have been done, which must not be done twice
 * - `onReusedId` hears of a message whose id its owner has used for another one: it is a message of its own.
 * - `onProblem` hears of what the log could not forget, which is there again in the next engine, and of a task in it that no
 *   task can be, which is left out. @default a warning of the process
 * - `note`      keeps for the operator what was thrown, which owners are not told, and gives the id that they are told.
 *               @default a warning of the process
 * - `steps`     watches the machines of the tasks.
 */
export interface TaskEngineOptions {
  readonly seams: Seams;
  readonly run: RunTurn;
  readonly check?: (asked: AskedMessage) => void;
  readonly answer?: (asked: AnsweredMessage) => Promise<TaskMessage> | undefined;
  readonly mayAnswer?: (agentId: string) => boolean;
  readonly log?: TaskLog;
  readonly limits?: TaskLimits;
  readonly onRestart?: (
    opening: TaskOpening,
    memo: Json | undefined,
    number: number,
  ) => 'again' | { readonly failed: string };
  readonly onReusedId?: (agentId: string, messageId: string) => void;
  readonly onProblem?: (reason: string) => void;
  readonly note?: NoteFailure;
  readonly steps?: StepWatch;
}

/** An accepted message and its number among the task's changes. `isFirst`: it made the task. */
interface TakenMessage {
  readonly task: LiveTask;
  readonly generation: number;
  readonly message: TaskMessage;
  readonly isFirst: boolean;
}

type ParsedSaid = ReturnType<typeof Said.parse>;

const SWEEP_MS = 60_000;
/** How long closing the engine waits for writes. */
const CLOSE_MS = 2_000;
const DEFAULT_RESTART = { failed: 'its server ended while it was worked at' };
const DEFAULT_TERMS = TaskTerms.parse({});

/**
 * Keeps tasks and has them worked at: one turn of a task after the other, every change numbered and kept before anybody
 * learns of it. A task outlives every request for it, and the process if its log does.
 *
 * A message that its owner sends twice is one message. One with other parts, or for another task, is another one, whatever its
 * id. To others an owner's tasks are as if they were not there.
 */
export class TaskEngine implements TaskService {
  readonly #seams: Seams;
  readonly #log: TaskLog;
  readonly #limits: ParsedTaskLimits;
  readonly #check: NonNullable<TaskEngineOptions['check']>;
  readonly #answer: TaskEngineOptions['answer'];
  readonly #mayAnswer: NonNullable<TaskEngineOptions['mayAnswer']>;
  readonly #onProblem: NonNullable<TaskEngineOptions['onProblem']>;
  readonly #note: NoteFailure;
  readonly #onReusedId: NonNullable<TaskEngineOptions['onReusedId']>;
  readonly #turns: TaskTurns;
  readonly #room: TaskQuota;
  readonly #deadlines: TaskDeadlines;
  readonly #index = new TaskIndex();
  /** Accepted messages, by owner and message id. */
  readonly #messages = new Map<string, TakenMessage[]>();
  readonly #liveDeps: LiveTaskDeps;
  readonly #listeners = new Set<(news: TaskNews) => void>();
  #stopSweeping: () => void = () => undefined;
  #isClosed = false;

  private constructor(options: TaskEngineOptions) {
    const { seams, run, check, answer, log, limits = {}, onProblem, onReusedId, note } = options;
    this.#seams = seams;
    this.#log = log ?? new InMemoryTaskLog();
    this.#check = check ?? (() => undefined);
    this.#answer = answer;
    this.#mayAnswer = options.mayAnswer ?? (() => true);
    this.#limits = parseOptions(TaskLimits, limits, 'limits');
    this.#liveDeps = {
      log: this.#log,
      nowMs: () => seams.clock.now(),
      onPublished: (task, changes) => this.#published(task, changes),
      onFailed: (task, error) => this.#notKept(task, error),
      steps: options.steps,
      onGrown: (task, bytes) => this.#index.grew(task, bytes),
    };
    this.#onReusedId = onReusedId ?? (() => undefined);
    this.#onProblem = onProblem ?? ((reason) => process.emitWarning(reason));
    this.#note = note ?? warning(seams);
    const room = new TaskQuota({
      limits: this.#limits,
      index: this.#index,
      forget: (task) => this.#forget(task),
    });
    this.#room = room;
    const makeRoom = (task: LiveTask, bytes: number): void => room.forMore(task, bytes);
    this.#turns = new TaskTurns({ seams, run, most: this.#limits.turns, makeRoom, note: this.#note });
    this.#deadlines = new TaskDeadlines(seams.clock, (task, atMs) => this.#passed(task, atMs));
    this.#sweep();
  }

  /** Opens an engine, and goes on with what a former one has left. Fails with INVALID_OPTIONS, and with what the log fails with. */
  static async open(options: TaskEngineOptions): Promise<TaskEngine> {
    const engine = new TaskEngine(options);
    await engine.#resumeTasks(options.onRestart ?? (() => DEFAULT_RESTART));
    return engine;
  }

  /** How many tasks there are. */
  get size(): number {
    return this.#index.size;
  }

  async send(owner: TaskOwner, said: Said): Promise<Task> {
    const { whose, parsed } = this.#parse(owner, said);
    const { message } = parsed;
    const key = messageKey(whose, message.messageId);
    const former = this.#messages.get(key) ?? [];
    const taken = former.find((one) => isSame(one, parsed)) ?? this.#takeAnother(key, whose, parsed);
    await taken.task.whenChangeKept(taken.generation);
    return taken.task.view.read();
  }

  answer(owner: TaskOwner, said: Said, signal: AbortSignal): Promise<MessageAnswer> | undefined {
    if (this.#answer === undefined || said.taskId !== undefined || said.newTaskId !== undefined)
      return undefined;
    // Checked before the message is parsed, which takes time when it is large.
    if (!this.#mayAnswer(said.agentId)) return undefined;
    const { whose, parsed } = this.#parse(owner, said);
    const { agentId, message, terms = DEFAULT_TERMS, contextId = this.#seams.newSecret() } = parsed;
    const asked = { owner: whose, agentId, message, terms, memo: undefined, contextId, signal };
    return this.#answer(asked)?.then((answer) => ({ message: answer, contextId }));
  }

  get(owner: TaskOwner, taskId: string, view?: ViewOptions): Task {
    return this.#find(owner, taskId).view.read(view);
  }

  agentOf(owner: TaskOwner, taskId: string): string {
    return this.#find(owner, taskId).opening.agentId;
  }

  list(owner: TaskOwner, query: TaskQuery): TaskPage {
    const { tasks, nextPageToken, total } = this.#index.page(owner, query);
    return { tasks: tasks.map(({ view }) => view.read(query)), nextPageToken, total };
  }

  async cancel(owner: TaskOwner, taskId: string): Promise<Task> {
    const task = this.#find(owner, taskId);
    if (task.isOver) throw taskOver(taskId, task.state, 'canceled');
    this.#turns.showPartial(task);
    task.change({ kind: 'status', state: 'canceled' });
    this.#turns.cut(task, cancelled(`The task ${taskId}`));
    await task.whenKept();
    return task.view.read();
  }

  changes(
    owner: TaskOwner,
    taskId: string,
    { after = 0, signal }: { after?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<TaskChange, void> {
    return this.#find(owner, taskId).changes(after, signal);
  }

  async whenIdle(owner: TaskOwner, taskId: string, signal?: AbortSignal): Promise<Task> {
    const task = this.#find(owner, taskId);
    const isIdle = (): boolean => {
      const { state } = task.view.status;
      return isTaskOver(state) || (isTaskInterrupted(state) && !this.#turns.isBusy(task));
    };
    const changes = task.changes(task.view.generation, signal);
    while (!isIdle()) if ((await changes.next()).done === true) break;
    await changes.return();
    return task.view.read();
  }

  onChange(listener: (news: TaskNews) => void): () => void {
    const own = (news: TaskNews): void => listener(news);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /**
   * Ends all turns. What is not over waits in the log for the next engine. It waits only a while for a log that cannot
   * write.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopSweeping();
    this.#deadlines.close();
    this.#turns.close(systemStopped('the task engine is closed'));
    const kept = Promise.allSettled([...this.#index].map((task) => task.whenKept()));
    await atMost(CLOSE_MS, kept, this.#seams);
  }

  #parse(owner: TaskOwner, said: Said): { readonly whose: TaskOwner; readonly parsed: ParsedSaid } {
    if (this.#isClosed) throw systemStopped('the task engine is closed');
    const whose = parseOptions(TaskOwner, owner, 'owner');
    const { isHandedOver } = (said ?? {}) as Partial<Said>;
    const parsed = parseOptions(isHandedOver === true ? SaidForGood : Said, said, 'said');
    const { role } = parsed.message;
    if (role !== 'user') throw invalidOptions('said.message.role', role, 'user');
    return { whose, parsed };
  }

  #find(owner: TaskOwner, taskId: string): LiveTask {
    const task = this.#index.find(owner, taskId);
    if (task === undefined) throw taskNotFound(taskId);
    return task;
  }

  #takeAnother(key: string, owner: TaskOwner, said: ParsedSaid): TakenMessage {
    const taken = this.#take(owner, said);
    if (this.#messages.has(key)) this.#onReusedId(taken.task.opening.agentId, said.message.messageId);
    this.#addTaken(key, taken);
    return taken;
  }

  #addTaken(key: string, taken: TakenMessage): void {
    const former = this.#messages.get(key);
    if (former === undefined) this.#messages.set(key, [taken]);
    else former.push(taken);
  }

  #take(owner: TaskOwner, said: ParsedSaid): TakenMessage {
    const { taskId, newTaskId, message, terms } = said;
    const known =
      taskId !== undefined ? this.#find(owner, taskId) : newTaskId && this.#index.find(owner, newTaskId);
    const task = known || undefined;
    if (task !== undefined) this.#requireOpen(task, said);
    const addressee = task ?? this.#newTask(owner, said);
    const { agentId } = addressee.opening;
    const bytes = sizeOfSaid(message);
    this.#room.requireOne(addressee, bytes);
    this.#check({ owner, agentId, message, terms: terms ?? DEFAULT_TERMS, memo: task?.memo });
    if (task !== undefined) this.#room.forMore(task, bytes);
    else {
      this.#room.forNew(addressee, bytes);
      this.#index.add(addressee);
    }
    return { ...this.#tell(addressee, { message, terms, bytes }), isFirst: task === undefined };
  }

  #requireOpen(task: LiveTask, { contextId, ifGeneration }: Pick<Said, 'contextId' | 'ifGeneration'>): void {
    const { id, opening, generation } = task;
    if (contextId !== undefined && contextId !== opening.contextId)
      throw invalidOptions('said.contextId', contextId, `that of the task, ${opening.contextId}`);
    if (ifGeneration !== undefined && ifGeneration !== generation)
      throw taskGenerationMismatch(id, generation, ifGeneration);
    if (task.isOver) throw taskOver(id, task.state, 'continued');
    const { waiting } = this.#limits;
    if (this.#turns.waiting(task) >= waiting) throw quotaExceeded('messages that wait for one task', waiting);
  }

  /** Makes a task that is not shown yet. */
  #newTask(owner: TaskOwner, { newTaskId, contextId, agentId, metadata }: Said): LiveTask {
    const { clock, newId, newSecret } = this.#seams;
    const opening = {
      // Who knows of a task or conversation of an owner that many share knows it because it was told.
      id: newTaskId ?? newSecret(),
      key: newId(),
      contextId: contextId ?? newSecret(),
      createdAtMs: clock.now(),
      owner,
      agentId,
      ...(metadata === undefined ? {} : { metadata }),
    };
    return new LiveTask(opening, this.#liveDeps);
  }

  #tell(
    task: LiveTask,
    { message, terms, bytes }: Pick<ParsedSaid, 'message' | 'terms'> & { readonly bytes: number },
  ): Omit<TakenMessage, 'isFirst'> {
    const isAnswer = isTaskInterrupted(task.state);
    task.change({ kind: 'message', message }, { terms, bytes });
    const { generation } = task;
    this.#deadlines.set(task, terms?.deadlineAtMs);
    this.#turns.add(task, { message, terms: terms ?? DEFAULT_TERMS });
    // Whoever has answered is not shown the question once more: its turn has begun by now, if there is room for it.
    return { task, generation: isAnswer ? task.generation : generation, message };
  }

  #published(task: LiveTask, changes: readonly TaskChange[]): void {
    if (changes.some(({ kind }) => kind === 'status')) this.#index.touch(task);
    if (task.isOver) this.#deadlines.clear(task);
    if (this.#listeners.size === 0) return;
    const { id: taskId, contextId, agentId, owner } = task.opening;
    for (const listener of this.#listeners) tell(listener, { taskId, contextId, agentId, owner, changes });
  }

  /** The log took no change of the task: what is done at it could be shown to nobody. */
  #notKept(task: LiveTask, error: unknown): void {
    this.#deadlines.clear(task);
    this.#turns.cut(task, error as Error);
    // What the end of the system cuts off waits in the log.
    if (this.#isClosed) return;
    const state = task.view.status.state;
    this.#onProblem(`The task "${task.id}" is not kept any more, and stays ${state}: ${reasonOf(error)}`);
  }

  #passed(task: LiveTask, deadlineAtMs: number): void {
    const error = deadlineExceeded(`The task ${task.id}`, deadlineAtMs - task.opening.createdAtMs);
    this.#turns.showPartial(task);
    this.#fail(task, error);
    this.#turns.cut(task, error);
  }

  #fail(task: LiveTask, error: unknown): void {
    const message = agentMessage(this.#seams.newId(), failureParts(error, this.#note));
    task.change({ kind: 'status', state: 'failed', message });
  }

  #forget(task: LiveTask): void {
    this.#index.remove(task);
    for (const { messageId, role } of task.view.history) {
      if (role !== 'user') continue;
      const key = messageKey(task.opening.owner, messageId);
      const others = this.#messages.get(key)?.filter((taken) => taken.task !== task) ?? [];
      if (others.length > 0) this.#messages.set(key, others);
      else this.#messages.delete(key);
    }
    void this.#forgetKept(task);
  }

  async #forgetKept({ id, opening }: LiveTask): Promise<void> {
    try {
      await this.#log.forget(opening.key);
    } catch (error) {
      this.#onProblem(`The task "${id}" is over, and could not be forgotten: ${reasonOf(error)}`);
    }
  }

  #sweep(): void {
    const before = this.#seams.clock.now() - this.#limits.ttlMs;
    for (const task of this.#index) if (task.isOver && task.view.status.atMs <= before) this.#forget(task);
    this.#stopSweeping = this.#seams.clock.setTimer(SWEEP_MS, () => this.#sweep());
  }

  async #resumeTasks(onRestart: NonNullable<TaskEngineOptions['onRestart']>): Promise<void> {
    const left: { task: LiveTask; toDo: LeftToDo }[] = [];
    for await (const logged of this.#log.load()) {
      const task = this.#restored(logged);
      if (task !== undefined) left.push({ task, toDo: leftToDo(logged) });
    }
    left.sort((one, other) => one.task.view.status.atMs - other.task.view.status.atMs);
    for (const { task, toDo } of left) {
      this.#index.add(task);
      this.#resume(task, toDo, onRestart);
    }
  }

  #restored(logged: LoggedTask): LiveTask | undefined {
    const task = new LiveTask(logged.opening, this.#liveDeps, true);
    try {
      task.restore(logged);
      return task;
    } catch (error) {
      this.#onProblem(`The task "${task.id}" of the log is left out: ${reasonOf(error)}`);
      return undefined;
    }
  }

  #resume(
    task: LiveTask,
    { said, begun, waiting, deadlineAtMs }: LeftToDo,
    onRestart: NonNullable<TaskEngineOptions['onRestart']>,
  ): void {
    said.forEach((message, at) => {
      const taken = { task, generation: 0, message, isFirst: at === 0 };
      this.#addTaken(messageKey(task.opening.owner, message.messageId), taken);
    });
    if (task.isOver) return;
    const decided = begun === undefined ? 'again' : onRestart(task.opening, task.memo, begun.number ?? 0);
    if (decided !== 'again') return this.#fail(task, new OrreryError('SYSTEM_STOPPED', decided.failed));
    this.#deadlines.set(task, deadlineAtMs);
    if (begun !== undefined) this.#turns.add(task, waitingOf(begun));
    for (const open of waiting) this.#turns.add(task, waitingOf(open));
  }
}

const waitingOf = ({ message, terms, number }: OpenMessage): WaitingMessage => ({
  message,
  terms: terms ?? DEFAULT_TERMS,
  again: number,
});

/** Whether a message repeats an accepted one: the same parts, to the same task or to make one. Terms and metadata may differ. */
function isSame({ task, message, isFirst }: TakenMessage, { message: again, ...said }: ParsedSaid): boolean {
  const { id, contextId, agentId } = task.opening;
  const isToThis =
    said.taskId === undefined
      ? said.newTaskId === id || (said.newTaskId === undefined && isFirst && said.agentId === agentId)
      : said.taskId === id && !isFirst;
  return isToThis && (said.contextId ?? contextId) === contextId && isSameMessage(message, again);
}

const messageKey = (owner: TaskOwner, messageId: string): string => `${ownerKey(owner)}${messageId}`;

/** Waits for `work`, and no longer than so many milliseconds. */
function atMost(ms: number, work: Promise<unknown>, { clock }: Pick<Seams, 'clock'>): Promise<void> {
  return new Promise((resolve) => {
    const stop = clock.setTimer(ms, resolve);
    void work.then(() => {
      stop();
      resolve();
    });
  });
}

/** What a listener throws ends nothing. */
function tell(listener: (news: TaskNews) => void, news: TaskNews): void {
  try {
    listener(news);
  } catch (error) {
    warnOf('A listener to tasks failed', error);
  }
}

const warning =
  ({ newId }: Pick<Seams, 'newId'>): NoteFailure =>
  (error) => {
    const id = newId();
    process.emitWarning(`A task failed (${id}): ${reasonOf(error)}`, 'OrreryWarning');
    return id;
  };

/** Timers that cancel tasks at their deadlines. */
class TaskDeadlines {
  readonly #clock: Clock;
  readonly #onPassed: (task: LiveTask, deadlineAtMs: number) => void;
  readonly #stops = new Map<LiveTask, () => void>();

  constructor(clock: Clock, onPassed: (task: LiveTask, deadlineAtMs: number) => void) {
    this.#clock = clock;
    this.#onPassed = onPassed;
  }

  /** Sets until when the task is wanted, Unix milliseconds; undefined: for as long as it takes. */
  set(task: LiveTask, deadlineAtMs: number | undefined): void {
    this.clear(task);
    if (deadlineAtMs === undefined) return;
    const leftMs = Math.max(0, deadlineAtMs - this.#clock.now());
    const stop = this.#clock.setTimer(Math.min(leftMs, MAX_TIMER_MS), () => {
      if (leftMs > MAX_TIMER_MS) return this.set(task, deadlineAtMs);
      this.#stops.delete(task);
      this.#onPassed(task, deadlineAtMs);
    });
    this.#stops.set(task, stop);
  }

  clear(task: LiveTask): void {
    this.#stops.get(task)?.();
    this.#stops.delete(task);
  }

  close(): void {
    for (const stop of this.#stops.values()) stop();
    this.#stops.clear();
  }
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const MIB = 1024 * 1024;

/**
 * - `ttlMs`       how long a task is kept when it is over. @default 24 hours
 * - `tasks`       how many an owner may have; those over make room. @default 1,000
 * - `tenantTasks` how many all owners of a tenant may have together; those over make room, whoever's they are. @default 10,000
 * - `totalTasks`  how many there may be in all; those over make room, whoever's they are. @default 100,000
 * - `waiting`     how many messages may wait for a task's agent. @default 16
 * - `bytes`       how much of one task may be held, about: what was said, what was made, and what its agent remembers.
 *                 @default 64 MiB
 * - `ownerBytes`  how much of all tasks of an owner may be held; those over make room. @default 256 MiB
 * - `totalBytes`  how much of all tasks may be held; those over make room, whoever's they are. @default 1 GiB
 * - `turns`       how many turns go on at once, over all tasks. @default 256
 */
export const TaskLimits = z.strictObject({
  ttlMs: z.number().positive().default(DAY_MS),
  tasks: z.int().positive().default(1_000),
  tenantTasks: z.int().positive().default(10_000),
  waiting: z.int().positive().default(16),
  totalTasks: z.int().positive().default(100_000),
  bytes: z
    .int()
    .positive()
    .default(64 * MIB),
  ownerBytes: z
    .int()
    .positive()
    .default(256 * MIB),
  totalBytes: z
    .int()
    .positive()
    .default(1024 * MIB),
  turns: z.int().positive().default(256),
});
export type TaskLimits = z.input<typeof TaskLimits>;
export type ParsedTaskLimits = z.output<typeof TaskLimits>;
