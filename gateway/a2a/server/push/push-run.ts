import { isOrreryError, reasonOf } from '../../../../runtime/protocol/errors.ts';
import type { Seams } from '../../../../runtime/protocol/seams.ts';
import { sleepUntil } from '../../../../runtime/protocol/sleep-until.ts';
import type { TaskService } from '../../../../runtime/protocol/task-service.ts';
import type { PushEvent, PushStatus } from './push-event.ts';
import { PushFeed, type PushNews } from './push-feed.ts';
import type { PushPoster } from './push-post.ts';
import type { PushRecord } from './push-record.ts';
import { type PushOutcome, type RetryLimits, waitBeforeNext } from './push-retry.ts';
import type { PushStore } from './push-store.ts';

/** `onEvent`: what happens to each piece of news. */
export interface PushRunDeps {
  readonly seams: Pick<Seams, 'clock' | 'random'>;
  readonly tasks: Pick<TaskService, 'get' | 'changes'>;
  readonly poster: PushPoster;
  readonly store: PushStore;
  readonly retry: RetryLimits;
  readonly onEvent: (event: PushEvent) => void;
}

type Failure = Exclude<PushOutcome, { kind: 'taken' }>;

/**
 * Tells one receiver the news of one task, in their order, each until it is acknowledged. Ends when the task is over, when
 * it is stopped, and when it gives up; then nothing more is sent, so that what a receiver has never has a gap.
 */
export class PushRun {
  readonly #deps: PushRunDeps;
  readonly #stopping = new AbortController();
  #record: PushRecord;
  #lastFailure: string | undefined;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;

  /** Starts when `afterwards` has resolved. */
  constructor(record: PushRecord, deps: PushRunDeps, afterwards: Promise<void> = Promise.resolve()) {
    this.#record = record;
    this.#deps = deps;
    this.ended = record.gaveUp === undefined ? afterwards.then(() => this.#run()) : afterwards;
  }

  get record(): PushRecord {
    return this.#record;
  }

  get status(): PushStatus {
    const { config, acknowledged, failingSinceMs, gaveUp } = this.#record;
    const reason = gaveUp?.reason ?? this.#lastFailure;
    return {
      id: config.id,
      state: gaveUp !== undefined ? 'gave-up' : failingSinceMs === undefined ? 'told' : 'waiting',
      acknowledged,
      ...(failingSinceMs === undefined ? {} : { failingSinceMs }),
      ...(reason === undefined ? {} : { reason }),
    };
  }

  /** Tells that the store did not keep how far it is, or that it is forgotten. */
  notKept(error: unknown, { acknowledged: generation } = this.#record): void {
    this.#tellEvent('not-kept', { generation, attempt: 0, reason: reasonOf(error) });
  }

  stop(): void {
    this.#stopping.abort(new Error('It is not to be told any more'));
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { owner, config, acknowledged } = this.#record;
    const reading = new AbortController();
    const options = { after: acknowledged, signal: AbortSignal.any([signal, reading.signal]) };
    try {
      const { contextId } = this.#deps.tasks.get(owner, config.taskId, {
        historyLength: 0,
        artifacts: false,
      });
      const feed = new PushFeed(this.#deps.tasks.changes(owner, config.taskId, options));
      while (!signal.aborted) {
        const news = await feed.next();
        if (news === undefined || !(await this.#tell(news, contextId))) return;
      }
    } catch (error) {
      // A task that is forgotten has no news, and its configs are forgotten, too.
      if (signal.aborted || (isOrreryError(error) && error.code === 'TASK_NOT_FOUND')) return;
      this.#giveUp({ kind: 'gone', reason: reasonOf(error) }, acknowledged, 0);
    } finally {
      reading.abort();
    }
  }

  /** Sends one piece of news; false when no more are to be sent. */
  async #tell(news: PushNews, contextId: string): Promise<boolean> {
    const { clock, random } = this.#deps.seams;
    for (let attempt = 1; ; attempt++) {
      const { signal } = this.#stopping;
      const outcome = await this.#deps.poster.post({ record: this.#record, news, contextId, signal });
      if (this.#stopping.signal.aborted) return false;
      if (outcome.kind === 'taken') {
        this.#acknowledge(news, attempt);
        return true;
      }
      const failingForMs = clock.now() - (this.#record.failingSinceMs ?? clock.now());
      const waitMs = waitBeforeNext(outcome, { attempt, failingForMs, random }, this.#deps.retry);
      if (waitMs === undefined) {
        this.#giveUp(outcome, news.generation, attempt);
        return false;
      }
      this.#fail(outcome, news.generation, attempt);
      await sleepUntil(clock, waitMs, this.#stopping.signal);
    }
  }

  #acknowledge({ generation }: PushNews, attempt: number): void {
    const { failingSinceMs: _, ...record } = this.#record;
    this.#lastFailure = undefined;
    this.#tellEvent('taken', { generation, attempt });
    this.#keep({ ...record, acknowledged: generation });
  }

  #fail({ reason }: Failure, generation: number, attempt: number): void {
    this.#lastFailure = reason;
    this.#tellEvent('failed', { generation, attempt, reason });
    if (this.#record.failingSinceMs === undefined)
      this.#keep({ ...this.#record, failingSinceMs: this.#deps.seams.clock.now() });
  }

  #giveUp({ kind, reason }: Failure, generation: number, attempt: number): void {
    const security = kind === 'refused' ? { security: true as const } : {};
    this.#tellEvent('gave-up', { generation, attempt, reason, ...security });
    this.#keep({ ...this.#record, gaveUp: { atMs: this.#deps.seams.clock.now(), reason } });
  }

  /** Stores progress without waiting. If that is lost, news is sent again after a restart. */
  #keep(record: PushRecord): void {
    this.#record = record;
    this.#deps.store.put(record).catch((error: unknown) => this.notKept(error, record));
  }

  #tellEvent(
    type: PushEvent['type'],
    facts: Omit<PushEvent, 'type' | 'atMs' | 'taskId' | 'configId' | 'origin'>,
  ): void {
    const { taskId, id, url } = this.#record.config;
    const { origin } = new URL(url);
    this.#deps.onEvent({ type, atMs: this.#deps.seams.clock.now(), taskId, configId: id, origin, ...facts });
  }
}
