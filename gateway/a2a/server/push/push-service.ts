import { isDeepStrictEqual } from 'node:util';
import {
  invalidPayload,
  isOrreryError,
  OrreryError,
  systemStopped,
} from '../../../../runtime/protocol/errors.ts';
import { parseOptions } from '../../../../runtime/protocol/parse-options.ts';
import type { TaskOwner, TaskService } from '../../../../runtime/protocol/task-service.ts';
import { warnOf } from '../../../../runtime/protocol/warn-of.ts';
import type { Operations, PushConfig } from '../../wire/operations.ts';
import type { PushConfigService } from '../push-configs.ts';
import { guardedFetch, refusedReceiver } from './guarded-fetch.ts';
import type { PushCounts, PushEvent, PushStatus } from './push-event.ts';
import { PushOptions, type ParsedPushOptions } from './push-options.ts';
import { type PushDialect, PushPoster, type PushPosterDeps } from './push-post.ts';
import { parseConfig, pushConfigNotFound, type PushRecord } from './push-record.ts';
import { PushRun, type PushRunDeps } from './push-run.ts';
import { InMemoryPushStore, type PushStore, rejecting } from './push-store.ts';
import { checkedAddresses, parseForeignUrl } from '../../../reach/foreign-url.ts';
import { KeyedSemaphore } from './keyed-semaphore.ts';

/**
 * - `dialects` in which receivers may be told; the first is that of a config that says none.
 * - `store`    where configs are kept. @default in memory
 * - `onEvent`  hears what happens to each piece of news. @default nobody does
 */
export interface PushServiceDeps extends Pick<PushPosterDeps, 'seams' | 'signer'> {
  readonly tasks: Pick<TaskService, 'get' | 'changes' | 'agentOf'>;
  readonly dialects: readonly [PushDialect, ...PushDialect[]];
  readonly store?: PushStore;
  readonly onEvent?: (event: PushEvent) => void;
}

const SWEEP_MS = 60_000;
const CHECK_MS = 5_000;
const PAGE_SIZE = 50;

/**
 * Tells web addresses of the news of tasks: every piece in order and at least once, with a signature, tried again while
 * nobody takes it, and only where it may go. What a receiver has acknowledged is kept, and a restart goes on from there.
 */
export class PushService implements PushConfigService {
  readonly #deps: PushServiceDeps;
  readonly #options: ParsedPushOptions;
  readonly #store: PushStore;
  readonly #configs = new PushConfigTable();
  readonly #runDeps: PushRunDeps;
  readonly #counts = { taken: 0, failed: 0, gaveUp: 0, refused: 0 };
  #stopSweeping: () => void = () => undefined;
  #isClosed = false;

  private constructor(deps: PushServiceDeps, options: PushOptions) {
    const { seams, signer, tasks, dialects } = deps;
    const store = rejecting(deps.store ?? new InMemoryPushStore());
    this.#deps = deps;
    this.#store = store;
    this.#options = parseOptions(PushOptions, options, 'push');
    const { targets, timeoutMs, atOnce, atOnceEach, attempts, ageMs, firstMs, longestMs } = this.#options;
    this.#runDeps = {
      seams,
      tasks,
      store,
      poster: new PushPoster({
        seams,
        tasks,
        signer,
        dialects: new Map(dialects.map((dialect) => [dialect.version, dialect])),
        fetch: guardedFetch({ clock: seams.clock, rules: targets, timeoutMs }),
        semaphore: new KeyedSemaphore(atOnce, atOnceEach),
      }),
      retry: { attempts, ageMs, firstMs, longestMs },
      onEvent: (event) => this.#note(event),
    };
  }

  /** Goes on with what is kept. Rejects with INVALID_OPTIONS, and as the store does. */
  static async open(deps: PushServiceDeps, options: PushOptions = {}): Promise<PushService> {
    const service = new PushService(deps, options);
    for (const record of await service.#store.load()) service.#start(record);
    service.#sweep();
    return service;
  }

  get counts(): PushCounts {
    const runs = [...this.#configs];
    const waiting = runs.filter(({ status }) => status.state === 'waiting').length;
    return { ...this.#counts, configs: runs.length, waiting };
  }

  async check(config: Parameters<PushConfigService['check']>[0]): Promise<void> {
    const { url } = parseConfig({ id: 'new', ...config, taskId: 'new' });
    const { targets } = this.#options;
    const target = parseForeignUrl(url, targets, refusedReceiver);
    const checked = checkedAddresses(target, targets, refusedReceiver).catch((error: unknown) => {
      if (isOrreryError(error)) throw error;
      // Whether a name can be looked up may change; it is looked up again whenever it is used.
    });
    await this.#atMost(CHECK_MS, checked);
  }

  async create(
    owner: TaskOwner,
    wanted: Operations['createPush']['in'],
    { after, dialect }: { readonly after?: number; readonly dialect?: string | undefined } = {},
  ): Promise<PushConfig> {
    const { tasks, seams, dialects } = this.#deps;
    const { taskId, id: wantedId, ...said } = wanted;
    const { generation } = tasks.get(owner, taskId, { historyLength: 0, artifacts: false });
    await this.check(said);
    if (this.#isClosed) throw systemStopped('nobody is told of tasks any more');
    const former = this.#formerOf(taskId, wantedId, said);
    if (former === undefined) this.#requireRoom(owner, taskId);
    const id = wantedId ?? former?.record.config.id ?? seams.newId();
    const record: PushRecord = {
      owner,
      config: parseConfig({ ...said, taskId, id }),
      dialect: dialect ?? dialects[0].version,
      createdAtMs: seams.clock.now(),
      acknowledged: former?.record.acknowledged ?? after ?? generation,
    };
    former?.stop();
    const run = this.#start(record, former?.ended);
    await this.#store.put(record).catch((error: unknown) => {
      run.stop();
      this.#configs.remove(run);
      throw error;
    });
    return record.config;
  }

  async get(owner: TaskOwner, { taskId, id }: Operations['getPush']['in']): Promise<PushConfig> {
    return this.#find(owner, taskId, id).record.config;
  }

  async list(
    owner: TaskOwner,
    { taskId, pageSize = PAGE_SIZE, pageToken = '' }: Operations['listPush']['in'],
  ): Promise<Operations['listPush']['out']> {
    this.#deps.tasks.agentOf(owner, taskId);
    const configs = this.#configs.ofTask(taskId).map(({ record }) => record.config);
    const from = pageToken === '' ? 0 : positionOf(pageToken);
    const page = configs.slice(from, from + Math.max(1, pageSize));
    const next = from + page.length;
    return { configs: page, nextPageToken: next < configs.length ? tokenOf(next) : '' };
  }

  async delete(owner: TaskOwner, { taskId, id }: Operations['deletePush']['in']): Promise<void> {
    this.#deps.tasks.agentOf(owner, taskId);
    const run = this.#configs.find(taskId, id);
    if (run !== undefined) await this.#forget(run);
  }

  /** The status of a task's configs. Throws TASK_NOT_FOUND. */
  statuses(owner: TaskOwner, taskId: string): readonly PushStatus[] {
    this.#deps.tasks.agentOf(owner, taskId);
    return this.#configs.ofTask(taskId).map(({ status }) => status);
  }

  /** Stops sending; the next process goes on from what is stored. Resolves when nothing is under way any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopSweeping();
    const runs = [...this.#configs];
    for (const run of runs) run.stop();
    await Promise.all(runs.map(({ ended }) => ended));
  }

  #start(record: PushRecord, afterwards?: Promise<void>): PushRun {
    const run = new PushRun(record, this.#runDeps, afterwards);
    this.#configs.add(run);
    return run;
  }

  async #forget(run: PushRun): Promise<void> {
    run.stop();
    this.#configs.remove(run);
    await this.#store.forget(run.record);
  }

  #find(owner: TaskOwner, taskId: string, id: string): PushRun {
    this.#deps.tasks.agentOf(owner, taskId);
    const run = this.#configs.find(taskId, id);
    if (run === undefined) throw pushConfigNotFound(taskId, id);
    return run;
  }

  /** The config that a new one replaces: that of the same id, or without an id an equal one. */
  #formerOf(
    taskId: string,
    id: string | undefined,
    said: Omit<PushConfig, 'id' | 'taskId'>,
  ): PushRun | undefined {
    if (id !== undefined) return this.#configs.find(taskId, id);
    return this.#configs.ofTask(taskId).find(({ record: { config } }) => {
      const { id: _id, taskId: _taskId, ...known } = config;
      return isDeepStrictEqual(known, said);
    });
  }

  #requireRoom(owner: TaskOwner, taskId: string): void {
    const { ofTask, ofOwner, most } = this.#options;
    if (this.#configs.ofTask(taskId).length >= ofTask) throw tooMany('of one task', ofTask);
    if (this.#configs.countOf(owner) >= ofOwner) throw tooMany('of one owner', ofOwner);
    if (this.#configs.size >= most) throw tooMany('of this gateway', most);
  }

  #note(event: PushEvent): void {
    if (event.type === 'taken') this.#counts.taken += 1;
    if (event.type === 'failed') this.#counts.failed += 1;
    if (event.type === 'gave-up') this.#counts.gaveUp += 1;
    if (event.security === true) this.#counts.refused += 1;
    try {
      this.#deps.onEvent?.(event);
    } catch (error) {
      warnOf('A listener to push notifications failed', error);
    }
  }

  /** Forgets the configs of tasks that are gone. */
  #sweep(): void {
    for (const run of [...this.#configs]) if (!this.#hasTask(run.record)) void this.#forgetQuietly(run);
    this.#stopSweeping = this.#deps.seams.clock.setTimer(SWEEP_MS, () => this.#sweep());
  }

  /** Forgets a config in the store. If that fails, it is told, and the config is forgotten when it is loaded again. */
  async #forgetQuietly(run: PushRun): Promise<void> {
    await this.#forget(run).catch((error: unknown) => run.notKept(error));
  }

  #hasTask({ owner, config }: PushRecord): boolean {
    try {
      this.#deps.tasks.agentOf(owner, config.taskId);
      return true;
    } catch (error) {
      if (isOrreryError(error) && error.code === 'TASK_NOT_FOUND') return false;
      throw error;
    }
  }

  /** Waits for it, and no longer than so long. */
  async #atMost(ms: number, promise: Promise<unknown>): Promise<void> {
    let cancel = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      cancel = this.#deps.seams.clock.setTimer(ms, resolve);
    });
    try {
      await Promise.race([promise, late]);
    } finally {
      cancel();
    }
  }
}

const tooMany = (what: string, limit: number): OrreryError =>
  new OrreryError('QUOTA_EXCEEDED', `No more than ${limit} push notification configs ${what}`, {
    details: { what: `push notification configs ${what}`, limit },
  });

const tokenOf = (position: number): string => Buffer.from(`push:${position}`).toString('base64url');

function positionOf(token: string): number {
  const position = /^push:(\d+)$/.exec(Buffer.from(token, 'base64url').toString())?.[1];
  if (position === undefined)
    throw invalidPayload(
      'push notification configs',
      `pageToken is "${token}", expected one of a page before`,
    );
  return Number(position);
}

/** The configs of a gateway, by task in the order in which they were made. */
class PushConfigTable {
  readonly #byTask = new Map<string, Map<string, PushRun>>();
  readonly #ofOwner = new Map<string, number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  countOf(owner: TaskOwner): number {
    return this.#ofOwner.get(ownerKey(owner)) ?? 0;
  }

  ofTask(taskId: string): readonly PushRun[] {
    return [...(this.#byTask.get(taskId)?.values() ?? [])];
  }

  find(taskId: string, id: string): PushRun | undefined {
    return this.#byTask.get(taskId)?.get(id);
  }

  /** Adds a config; it replaces one of the same task and id. */
  add(run: PushRun): void {
    const { config, owner } = run.record;
    const ofTask = this.#byTask.get(config.taskId) ?? new Map<string, PushRun>();
    if (!ofTask.has(config.id)) this.#count(owner, 1);
    ofTask.set(config.id, run);
    this.#byTask.set(config.taskId, ofTask);
  }

  remove({ record: { config, owner } }: PushRun): void {
    const ofTask = this.#byTask.get(config.taskId);
    if (ofTask?.delete(config.id) !== true) return;
    if (ofTask.size === 0) this.#byTask.delete(config.taskId);
    this.#count(owner, -1);
  }

  *[Symbol.iterator](): Iterator<PushRun> {
    for (const ofTask of this.#byTask.values()) yield* ofTask.values();
  }

  #count(owner: TaskOwner, by: 1 | -1): void {
    const key = ownerKey(owner);
    const count = (this.#ofOwner.get(key) ?? 0) + by;
    if (count === 0) this.#ofOwner.delete(key);
    else this.#ofOwner.set(key, count);
    this.#size += by;
  }
}

const ownerKey = ({ principalId, tenant }: TaskOwner): string =>
  JSON.stringify([tenant ?? null, principalId]);
