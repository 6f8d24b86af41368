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
  /** A message that was sent twice is one there. */
  readonly isIdempotent: boolean;
  /** Its card says that it streams. */
  readonly streams: boolean;
}

/** A message to be sent and followed, or a task that is there already. */
export type Beginning = { readonly order: SendingOrder } | { readonly taskId: string };

type Source = AsyncGenerator<StreamedEvent, void>;

/**
 * Follows one task over however many streams, until it is over or waits for somebody.
 *
 * What is cut is subscribed to again after the last event that came, where events have ids; without ids, or where their
 * numbers begin anew, the stream begins with the task as it is, and the reader is given what it has not seen of it. So it is
 * told everything once. Where nobody can subscribe, or nobody could tell what is new, the task is asked for again and again.
 */
export class TaskSubscription {
  readonly #deps: TaskSubscriptionDeps;
  readonly #seen = new TaskSeen();
  /** Of the last event, if it had one. */
  #lastEventId: string | undefined;
  readonly #bound: ByteBound;
  #failures = 0;
  /** In one of the attempts. */
  #mayHaveArrived = false;
  /** By a message, without a task. */
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
   * What comes of it; `given` is how its reader has seen it already. Fails as the other side does, REMOTE_UNREACHABLE when
   * it stays away, REMOTE_FAILED when it says what cannot be.
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
    // Who is answered is first shown the task as it was before.
    let mayBeStale = 'order' in beginning && beginning.order.taskId !== undefined;
    let isFirst = true;
    for await (const { event, id } of source) {
      const isOldNumber = isOld(id, this.#lastEventId);
      const isDoubtful = isFirst && isOldNumber && (event.kind === 'task' || id !== this.#lastEventId);
      isFirst = false;
      if (isOldNumber && !isDoubtful) continue;
      this.#check(event);
      // Its numbers begin anew, or it tells all again: only a picture that is not behind says that they begin anew.
      if (isDoubtful && !(event.kind === 'task' && this.#seen.isWithin(event.task))) {
        yield* this.#asked(this.#seen.taskId as string, signal);
        return;
      }
      this.#failures = 0;
      if (isPictureDue && event.kind !== 'task') yield* this.#pictured(event, signal);
      else yield* this.#news(event);
      isPictureDue = false;
      // What the reader has been given, not what has come. After one without an id nobody can say where to go on.
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
    // History and metadata are no news, but belong to what was seen.
    if (event.kind === 'task') this.#seen.take(event);
  }

  /** A stream that was taken up again without saying how the task is: that is asked for first. */
  async *#pictured(event: RemoteEvent, signal: AbortSignal | undefined): AsyncGenerator<RemoteEvent, void> {
    const task = await this.#get(this.#seen.taskId as string, signal);
    yield* this.#news({ kind: 'task', task });
    if (event.kind === 'artifact' && this.#seen.endsWith(event)) return;
    if (event.kind === 'status' && this.#seen.isIdle) return;
    yield* this.#news(event);
  }

  /** Asks how the task is until it is idle. */
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

  /** Waits before the next attempt; throws what the last one failed with when it was the last. */
  async #pause(failure: unknown, signal: AbortSignal | undefined): Promise<void> {
    const { settings, clock, random } = this.#deps;
    this.#failures += 1;
    if (this.#failures >= settings.attempts) throw failure;
    const retryAfterMs = retryAfterIn(failure);
    if (retryAfterMs !== undefined && retryAfterMs > settings.maxBackoffMs) throw failure;
    await wait(waitMsAfter(this.#failures, settings, random, retryAfterMs), clock, signal);
  }

  /** Whatever is told belongs to one task: that which was asked about, or the first one that was told of. */
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

/** Nobody subscribes to what is over, or at all: how it is can be asked for. */
const cannotSubscribe = (error: unknown): boolean =>
  isUnsupportedThere(error) || isOtherVersion(error) || (isOrreryError(error) && error.code === 'TASK_OVER');

/** Numbers that have come already come again from a server that tells a stream from its beginning. */
const isOld = (id: string | undefined, lastId: string | undefined): boolean =>
  id !== undefined &&
  lastId !== undefined &&
  NUMBER.test(id) &&
  NUMBER.test(lastId) &&
  BigInt(id) <= BigInt(lastId);

/** As long as any that somebody counts with; longer ones would cost much to compare. */
const NUMBER = /^\d{1,100}$/;
