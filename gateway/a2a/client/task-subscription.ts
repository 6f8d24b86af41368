import { remoteFailed, remoteUnreachable } from '../../../runtime/protocol/edge-errors.ts';
import { isOrreryError } from '../../../runtime/protocol/errors.ts';
import type { RemoteEvent, RemoteTask } from '../../../runtime/protocol/remote-agent.ts';
import type { Clock, Random } from '../../../runtime/protocol/seams.ts';
import { isTaskOver } from '../../../runtime/protocol/task.ts';
import { wait, waitMsAfter } from './wait.ts';
import type { ClientSettings } from './client-options.ts';
import {
  afterOthers,
  type ByteBound,
  cannotHaveArrived,
  type Exchange,
  mayPassLater,
  type StreamedEvent,
} from './exchange.ts';
import { isOtherVersion, isUnsupportedThere } from './remote-errors.ts';
import { TaskSeen } from './task-seen.ts';
import type { SendingOrder } from '../wire/dialect.ts';
import { AnyTask } from '../wire/answers.ts';

export interface TaskSubscriptionDeps {
  readonly exchange: Exchange;
  readonly settings: ClientSettings;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether a message sent twice is one message there. */
  readonly isIdempotent: boolean;
  /** Whether its card says that it streams. */
  readonly streams: boolean;
}

/** What to follow: a message to send, or a task that exists. */
export type Beginning = { readonly order: SendingOrder } | { readonly taskId: string };

type Source = AsyncGenerator<StreamedEvent, void>;

/**
 * Follows one task over however many streams, until it is over or waits for somebody.
 *
 * A cut stream is resumed after the last event, if events have ids. Without ids, or if their numbers start anew, the stream
 * begins with the task as it is, and the reader gets what it has not seen of that. So it gets everything once. If the other side
 * has no subscriptions, or nobody could tell what is new, the client asks for the task again and again.
 */
export class TaskSubscription {
  readonly #deps: TaskSubscriptionDeps;
  readonly #seen = new TaskSeen();
  /** The id of the last event, if it had one. */
  #lastEventId: string | undefined;
  readonly #bound: ByteBound;
  #failures = 0;
  /** Whether the message may have arrived in one of the attempts. */
  #mayHaveArrived = false;
  /** Whether a message without a task was the answer. */
  #isAnswered = false;

  constructor(deps: TaskSubscriptionDeps) {
    this.#deps = deps;
    this.#bound = { maxBytes: deps.settings.maxStreamBytes, takenBytes: 0 };
  }

  /** The task as its reader has seen it. */
  get task(): RemoteTask | undefined {
    return this.#seen.task;
  }

  /**
   * Yields the task's events; `given` is the task as the reader has seen it already. Fails with the other side's error, with
   * REMOTE_UNREACHABLE if it stays unreachable, and with REMOTE_FAILED if its answers contradict each other.
   */
  async *events(
    beginning: Beginning,
    signal?: AbortSignal,
    given?: RemoteTask,
  ): AsyncGenerator<RemoteEvent, void> {
    if (given !== undefined) this.#seen.take({ kind: 'task', task: given });
    if (this.#seen.isIdle) return;
    this.#mayHaveArrived = 'taskId' in beginning;
    try {
      yield* this.#followed(beginning, signal);
    } catch (error) {
      throw afterOthers(error, this.#mayHaveArrived || this.#seen.taskId !== undefined);
    }
  }

  async *#followed(beginning: Beginning, signal: AbortSignal | undefined): AsyncGenerator<RemoteEvent, void> {
    const { exchange, streams } = this.#deps;
    let taskId = 'taskId' in beginning ? beginning.taskId : undefined;
    for (let isFirst = true; ; isFirst = false) {
      try {
        const isNew = taskId === undefined && 'order' in beginning;
        if (!isNew && !(streams && exchange.has('subscribe'))) yield* this.#asked(taskId as string, signal);
        else yield* this.#streamed(isNew ? beginning : { taskId: taskId as string }, !isFirst, signal);
        if (this.#seen.isIdle || this.#isAnswered) return;
        throw endedEarly(exchange.origin);
      } catch (error) {
        if (taskId !== undefined && cannotSubscribe(error)) {
          yield* this.#asked(taskId, signal);
          return;
        }
        taskId = this.#seen.taskId ?? taskId;
        if (!(taskId === undefined ? this.#mayBeSentAgain(error) : mayPassLater(error))) throw error;
        await this.#pause(error, signal);
        this.#mayHaveArrived ||= !cannotHaveArrived(error);
      }
      taskId = this.#seen.taskId ?? taskId;
    }
  }

  async *#streamed(
    beginning: Beginning,
    isAgain: boolean,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<RemoteEvent, void> {
    const { exchange } = this.#deps;
    const lastEventId = this.#lastEventId;
    const bound = this.#bound;
    const source: Source =
      'order' in beginning
        ? exchange.open('stream', beginning.order, { signal, bound })
        : exchange.open('subscribe', beginning, { lastEventId, signal, bound });
    let isPictureDue = isAgain && lastEventId === undefined && 'taskId' in beginning;
    // After a message the stream may begin with the task as it was before.
    let mayBeStale = 'order' in beginning && beginning.order.taskId !== undefined;
    let isFirst = true;
    for await (const { event, id } of source) {
      const isOldNumber = isOld(id, this.#lastEventId);
      const isDoubtful = isFirst && isOldNumber && (event.kind === 'task' || id !== this.#lastEventId);
      isFirst = false;
      if (isOldNumber && !isDoubtful) continue;
      this.#check(event);
      // The numbers start anew, or the server repeats everything. Only a snapshot that is not older shows that they start anew.
      if (isDoubtful && !(event.kind === 'task' && this.#seen.isWithin(event.task))) {
        yield* this.#asked(this.#seen.taskId as string, signal);
        return;
      }
      this.#failures = 0;
      if (isPictureDue && event.kind !== 'task') yield* this.#pictured(event, signal);
      else yield* this.#news(event);
      isPictureDue = false;
      // The last event that the reader got, not the last that arrived. After one without an id nobody knows where to resume.
      this.#lastEventId = id === '' ? undefined : id;
      if (event.kind === 'message') this.#isAnswered = true;
      const isStale = mayBeStale && event.kind === 'task' && !isTaskOver(event.task.status.state);
      mayBeStale = false;
      if (this.#isAnswered || (this.#seen.isIdle && !isStale)) return;
    }
  }

  *#news(event: RemoteEvent): Generator<RemoteEvent, void> {
    for (const news of event.kind === 'task' ? this.#seen.missing(event.task) : [event]) {
      this.#seen.take(news);
      yield news;
    }
    // History and metadata are no events, but part of the task as seen.
    if (event.kind === 'task') this.#seen.take(event);
  }

  /** Asks for the task first, if a resumed stream does not begin with it. */
  async *#pictured(event: RemoteEvent, signal: AbortSignal | undefined): AsyncGenerator<RemoteEvent, void> {
    const task = await this.#get(this.#seen.taskId as string, signal);
    yield* this.#news({ kind: 'task', task });
    if (event.kind === 'artifact' && this.#seen.endsWith(event)) return;
    if (event.kind === 'status' && this.#seen.isIdle) return;
    yield* this.#news(event);
  }

  /** Asks for the task again and again until it is idle; yields what is new. */
  async *#asked(taskId: string, signal: AbortSignal | undefined): AsyncGenerator<RemoteEvent, void> {
    const { settings, clock, random } = this.#deps;
    for (let quiet = 1; ; quiet += 1) {
      let hasNews = false;
      for (const news of this.#news({ kind: 'task', task: await this.#get(taskId, signal) })) {
        hasNews = true;
        yield news;
      }
      if (this.#seen.isIdle) return;
      if (hasNews) quiet = 1;
      await wait(waitMsAfter(quiet, settings, random), clock, signal);
    }
  }

  async #get(taskId: string, signal: AbortSignal | undefined): Promise<RemoteTask> {
    const { exchange } = this.#deps;
    for (;;) {
      try {
        const task = exchange.read(AnyTask, await exchange.ask('get', { taskId }, signal));
        this.#check({ kind: 'task', task });
        this.#failures = 0;
        return task;
      } catch (error) {
        if (!mayPassLater(error)) throw error;
        await this.#pause(error, signal);
      }
    }
  }

  #mayBeSentAgain(error: unknown): boolean {
    return cannotHaveArrived(error) || (this.#deps.isIdempotent && mayPassLater(error));
  }

  /** Waits before the next attempt. Throws `failure` if there is none left. */
  async #pause(failure: unknown, signal: AbortSignal | undefined): Promise<void> {
    const { settings, clock, random } = this.#deps;
    this.#failures += 1;
    if (this.#failures >= settings.attempts) throw failure;
    const retryAfterMs = retryAfterIn(failure);
    if (retryAfterMs !== undefined && retryAfterMs > settings.maxBackoffMs) throw failure;
    await wait(waitMsAfter(this.#failures, settings, random, retryAfterMs), clock, signal);
  }

  /** Throws REMOTE_FAILED if the event is of another task than the one asked for, or the first one seen. */
  #check(event: RemoteEvent): void {
    const expected = this.#seen.taskId;
    const of = event.kind === 'task' ? event.task.id : event.kind === 'message' ? expected : event.taskId;
    if (expected === undefined || of === expected) return;
    throw remoteFailed(
      this.#deps.exchange.origin,
      `it tells of task "${of}" to who asked about "${expected}"`,
    );
  }
}

const endedEarly = (origin: string): Error =>
  remoteUnreachable(origin, 'its stream ended before the task', { mayHaveArrived: true });

export const retryAfterIn = (error: unknown): number | undefined => {
  const after = isOrreryError(error) ? error.details['retryAfterMs'] : undefined;
  return typeof after === 'number' ? after : undefined;
};

/** Whether the other side has no subscription to this task: then the client asks for it. */
const cannotSubscribe = (error: unknown): boolean =>
  isUnsupportedThere(error) || isOtherVersion(error) || (isOrreryError(error) && error.code === 'TASK_OVER');

/** Whether the id is one that came before: some servers repeat a stream from its beginning. */
const isOld = (id: string | undefined, lastId: string | undefined): boolean =>
  id !== undefined &&
  lastId !== undefined &&
  NUMBER.test(id) &&
  NUMBER.test(lastId) &&
  BigInt(id) <= BigInt(lastId);

/** Numbers with at most 100 digits; longer ones would take long to compare. */
const NUMBER = /^\d{1,100}$/;
