import type { ControlLog } from '../observe/control-log.ts';
import { invalidOptions, threadDied } from '../protocol/errors.ts';
import type { RoutingConfig } from '../protocol/routing-config.ts';
import type { Seams } from '../protocol/seams.ts';
import type { Taint } from '../protocol/taint.ts';
import {
  type ProgressSample,
  type ProgressLimits,
  ProgressWatch,
  type NoProgress,
} from '../supervision/progress-watch.ts';
import { Watchdog } from '../supervision/watchdog.ts';
import { Connection, type Remote } from '../link/connection.ts';
import type { JournalThread } from '../journal/journal-thread.ts';
import type { ControlOrder, NodeCalls, NodeReport, ThreadDeath } from '../thread/control-protocol.ts';
import { newCreditMemory } from '../link/link.ts';
import { NO_CHANGE } from '../routing/routing-table.ts';
import type { NodeBoot } from '../thread/thread-node.ts';
import { ThreadStarter } from './thread-starter.ts';
import type { AgentTable } from './agent-table.ts';
import type { ControlBoot, ControlCalls } from './control-calls.ts';
import type { Port } from '../link/port.ts';
import type { ThreadIncarnation } from './thread-incarnation.ts';
import type { IncarnationRegistry } from './incarnation-registry.ts';
import { footingOf, type Spawned, type Spawner } from '../link/spawner.ts';

/** How a thread gets on that answers what is to be seen of it. */
const QUERY: ProgressLimits = { quietMs: 1_500, computeMs: 500 };
const TERMINATE_MS = 2_000;
/** A spare thread is started when what happens now is over. */
const SPARE_AFTER_MS = 500;

/** Why a thread ended. `isCharged`: it is the fault of what ran in it; `taint`: where what the reason says came from outside. */
export interface Ending {
  readonly reason: string;
  readonly taint?: Taint;
  readonly isCharged: boolean;
}

/** A place as the control thread knows it: its present thread, if the control thread started that, and how to reach it. */
export interface ThreadHandle {
  readonly id: string;
  incarnation: ThreadIncarnation;
  connection: Connection<NodeCalls, ControlOrder>;
  spawned: Spawned | undefined;
  /** Its agents are hosted and it is linked with the others. */
  isUp: boolean;
  /** How much it loads at the moment. */
  loads: number;
  /** Why its thread is being ended; undefined when nobody asked for it. */
  ending: Ending | undefined;
  /** A death that the others have not been told of, because its successor is not up yet. */
  untold: ThreadDeath | undefined;
}

/** Somebody waits until so many reports of an incarnation are heard. */
interface CatchingUp {
  readonly of: ThreadIncarnation;
  readonly reports: number;
  readonly resolve: () => void;
}

export interface ThreadsDeps {
  readonly seams: Seams;
  readonly spawner: Spawner;
  readonly incarnations: IncarnationRegistry;
  readonly agents: AgentTable;
  readonly log: ControlLog;
  /** What outlives the process; undefined in a system without a journal. */
  readonly journal: JournalThread | undefined;
}

/** Who is told of the threads. */
export interface ThreadsListener {
  heard(incarnation: ThreadIncarnation, report: NodeReport): void;
  /** A thread is gone, and its incarnation is retired. */
  died(thread: ThreadHandle, dead: ThreadIncarnation, ending: Ending): void;
}

/** The threads of a system: starts, links, watches and ends them. Who lives in them is not its business. */
export class Threads {
  readonly #deps: ThreadsDeps;
  readonly #boot: ControlBoot;
  readonly #listener: ThreadsListener;
  readonly #starter: ThreadStarter;
  readonly #watchdog: Watchdog;
  readonly #threads = new Map<string, ThreadHandle>();
  readonly #waiters = new Map<ThreadHandle, (() => void)[]>();
  readonly #catchingUp = new Set<CatchingUp>();
  // What a new thread must be told that was told to all before it was there.
  #config: RoutingConfig | undefined;
  #inspection: { readonly isOn: true; readonly eventsPerSecond: number | undefined } | undefined;
  #isDraining = false;
  isClosing = false;

  constructor(deps: ThreadsDeps, boot: ControlBoot, listener: ThreadsListener) {
    this.#deps = deps;
    this.#boot = boot;
    this.#listener = listener;
    const { seams, spawner, log } = deps;
    this.#starter = new ThreadStarter({ spawner, workerOptions: boot.workerOptions, clock: seams.clock });
    this.#watchdog = new Watchdog(
      {
        seams,
        sample: async (id) => {
          const { incarnation, spawned } = this.get(id);
          const cpuMs = (await spawned?.cpuMs()) ?? 0;
          return { atMs: seams.clock.monotonicMs(), beat: incarnation.beat, cpuMs };
        },
        onLoop: (id, { stalledMs }) => {
          log.note('watchdog', { place: id, reason: `it loops since ${Math.round(stalledMs)} ms` });
          this.end(id, {
            reason: `an endless loop (${Math.round(stalledMs)} ms without a beat)`,
            isCharged: true,
          });
        },
        onStarved: (id, { stalledMs }) => {
          const reason = `no sign of life for ${Math.round(stalledMs)} ms, and no processor time`;
          log.note('watchdog', { place: id, reason });
        },
      },
      boot.options.watchdog,
    );
  }

  [Symbol.iterator](): Iterator<ThreadHandle> {
    return this.#threads.values();
  }

  has(id: string): boolean {
    return this.#threads.has(id);
  }

  get(id: string): ThreadHandle {
    return this.#threads.get(id) as ThreadHandle;
  }

  get size(): number {
    return this.#threads.size;
  }

  get areUp(): boolean {
    for (const { isUp } of this) if (!isUp) return false;
    return true;
  }

  /** The embedder's thread: nobody starts it, it is up from the first, and it alone may call. */
  addHost(incarnation: ThreadIncarnation, port: Port, calls: ControlCalls): void {
    const host = this.#add('host', incarnation, { port, spawned: undefined });
    host.isUp = true;
    host.connection.serve(calls, (report) => this.#hear(incarnation, report as NodeReport));
  }

  /** Sees to it that there is such a place, with a thread that gets ready, linked with all that are there. */
  ensure(id: string): void {
    if (!this.#threads.has(id)) this.join(this.open(id));
  }

  /** A new place with a thread of its own; not linked yet. */
  open(id: string): ThreadHandle {
    const incarnation = this.#deps.incarnations.open();
    const spawned = this.#starter.start(this.#nodeBoot(id, incarnation));
    const thread = this.#add(id, incarnation, { port: spawned.port, spawned });
    this.#connect(thread, spawned);
    return thread;
  }

  /** Gives a place whose thread is gone another one. */
  reopen(thread: ThreadHandle): void {
    thread.incarnation = this.#deps.incarnations.open();
    const spawned = this.#starter.start(this.#nodeBoot(thread.id, thread.incarnation));
    thread.spawned = spawned;
    thread.connection = new Connection(spawned.port);
    this.#connect(thread, spawned);
  }

  /** The number of the thread that is this place now; none for the embedder's. */
  threadIdOf(id: string): number | undefined {
    return this.#threads.get(id)?.spawned?.threadId;
  }

  /** Links a place with all that are up; whoever is not will be linked with it when it is. Then it is up itself. */
  join(thread: ThreadHandle): void {
    for (const other of this) if (other !== thread && other.isUp) this.#link(thread, other);
    if (thread.untold !== undefined) this.#deps.log.note('place-started', { place: thread.id });
    thread.untold = undefined;
    thread.isUp = true;
    this.watch(thread.id);
  }

  /** Sees to it that a spare thread is there when what happens now is over, if one may be needed. */
  prepareSpare(): void {
    const isNeeded = [...this].some(({ spawned }) => spawned !== undefined);
    if (isNeeded && this.#boot.options.spareThread && !this.isClosing) this.#starter.prepare(SPARE_AFTER_MS);
  }

  /** Calls what has waited for the place; after `join`, when the first orders are given. */
  announce(thread: ThreadHandle): void {
    for (const run of this.#waiters.get(thread)?.splice(0) ?? []) run();
  }

  /** Calls `run` now or when the place is up. */
  whenUp(thread: ThreadHandle, run: () => void): void {
    if (thread.isUp && thread.ending === undefined) {
      run();
      return;
    }
    const waiters = this.#waiters.get(thread) ?? [];
    waiters.push(run);
    this.#waiters.set(thread, waiters);
  }

  /** Ends the thread of a place; that it has ended is reported like every death. */
  end(id: string, ending: Ending): void {
    const thread = this.#threads.get(id);
    if (thread?.spawned === undefined) throw invalidOptions('place', id, 'the name of a worker thread');
    if (thread.ending !== undefined) return;
    thread.ending = ending;
    this.#watchdog.unwatch(id);
    void thread.spawned.terminate();
  }

  /** Watches a place for loops, from now on. */
  watch(id: string): void {
    const thread = this.get(id);
    if (thread.spawned === undefined || !thread.isUp || thread.loads > 0) return;
    if (thread.ending === undefined && !this.isClosing) {
      this.#watchdog.watch(id);
    }
  }

  /**
   * Watches a place while it loads code, in which it may compute for longer than the watchdog allows, and calls `onStill` if
   * that does not get on. `isElsewhere`: a process loads it, which is watched by its place once that is ready. Returns what
   * ends it.
   */
  watchLoading(
    thread: ThreadHandle,
    { isElsewhere }: { readonly isElsewhere: boolean },
    onStill: (still: NoProgress) => void,
  ): () => void {
    const { seams } = this.#deps;
    let unjudged = 0;
    let beat = -1;
    const sample = async (): Promise<ProgressSample> => {
      const footing = await this.#footingOf(thread);
      // Nobody asks the embedder's thread what it uses: while it is blocked it loads nothing, and is not judged.
      const isBlocked = thread.spawned === undefined && footing.beat === beat;
      if (isBlocked || (isElsewhere && footing.beat > 0)) unjudged += 1;
      beat = footing.beat;
      return { ...footing, signs: footing.signs + unjudged };
    };
    const watch = new ProgressWatch({ clock: seams.clock, sample, onStill }, this.#boot.options.starting);
    thread.loads += 1;
    this.#watchdog.unwatch(thread.id);
    return () => {
      watch.close();
      thread.loads -= 1;
      this.watch(thread.id);
    };
  }

  async #footingOf({ incarnation, spawned }: ThreadHandle): Promise<ProgressSample> {
    const footing = spawned === undefined ? { cpuMs: 0 } : await footingOf(spawned);
    return { ...footing, signs: incarnation.heard, beat: incarnation.beat };
  }

  tell(thread: ThreadHandle, message: ControlOrder, transfer?: readonly unknown[]): void {
    thread.connection.tell(message, transfer);
  }

  tellAll(message: ControlOrder): void {
    for (const thread of this) this.tell(thread, message);
  }

  /** Gives a place that has missed deltas the whole table. */
  tellTable(incarnation: ThreadIncarnation): void {
    this.tellIncarnation(incarnation, { t: 'whole-table', delta: this.#deps.agents.snapshot() });
  }

  /** Tells one thread, if it is there still. */
  tellIncarnation(incarnation: ThreadIncarnation, message: ControlOrder): void {
    for (const thread of this) if (thread.incarnation === incarnation) this.tell(thread, message);
  }

  /** Has every place judge by `config` too, and every later one; resolves when those that answer do. */
  async configure(config: RoutingConfig): Promise<void> {
    this.#config = { ...this.#config, ...config };
    this.tellAll({ t: 'config', config });
    // A version of its own: what was judged before and is under way is judged again.
    this.tellAll({ t: 'table', delta: this.#deps.agents.write(NO_CHANGE) });
    await this.askAll((api) => api.ping());
  }

  /** Has every place stream its events, so many a second at most, or stop to; resolves when those that answer do. */
  async inspect(isOn: boolean, eventsPerSecond?: number): Promise<void> {
    this.#inspection = isOn ? { isOn, eventsPerSecond } : undefined;
    this.tellAll({ t: 'inspect', isOn, eventsPerSecond });
    await this.askAll((api) => api.ping());
  }

  get isInspected(): boolean {
    return this.#inspection !== undefined;
  }

  /** From now on no place takes anything new; what is under way goes on. */
  beginDraining(): void {
    this.#isDraining = true;
    this.tellAll({ t: 'drain' });
  }

  /** What every place answers, as long as it gets on by these limits; one that does not is left out. */
  async askAll<Answer>(
    ask: (api: Remote<NodeCalls>, thread: ThreadHandle) => Promise<Answer>,
    limits = QUERY,
  ): Promise<Answer[]> {
    // In a thread that has not begun nobody lives yet.
    const begun = [...this].filter(({ incarnation }) => incarnation.beat > 0);
    const answers = await Promise.all(begun.map((thread) => this.#askPatiently(thread, ask, limits)));
    return answers.filter((answer) => answer !== undefined) as Answer[];
  }

  /** Undefined when it fails, or the place does not get on. */
  #askPatiently<Answer>(
    thread: ThreadHandle,
    ask: (api: Remote<NodeCalls>, thread: ThreadHandle) => Promise<Answer>,
    limits: ProgressLimits,
  ): Promise<Answer | undefined> {
    const { clock } = this.#deps.seams;
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const sample = (): Promise<ProgressSample> => this.#footingOf(thread);
    const watch = new ProgressWatch({ clock, sample, onStill: () => resolve(undefined) }, limits);
    ask(thread.connection.api, thread).then(resolve, () => resolve(undefined));
    return promise.finally(() => watch.close());
  }

  /** From now on a thread that ends is not replaced. */
  beginClosing(): void {
    this.isClosing = true;
    this.#watchdog.close();
  }

  /** Ends every thread. */
  async close(): Promise<void> {
    this.beginClosing();
    const ended = Promise.all([
      ...[...this].map(({ spawned }) => spawned?.terminate()),
      this.#starter.close(),
    ]);
    // A thread that is stuck in the collector of an exhausted heap cannot be ended.
    const tooLate = new Promise<void>((resolve) => this.#deps.seams.clock.setTimer(TERMINATE_MS, resolve));
    await Promise.race([ended, tooLate]);
  }

  #add(
    id: string,
    incarnation: ThreadIncarnation,
    { port, spawned }: { readonly port: Port; readonly spawned: Spawned | undefined },
  ): ThreadHandle {
    const connection = new Connection<NodeCalls, ControlOrder>(port);
    const thread = {
      ...{ id, incarnation, connection, spawned },
      ...{ isUp: false, loads: 0, ending: undefined, untold: undefined },
    };
    this.#threads.set(id, thread);
    return thread;
  }

  /**
   * Resolves when all is heard that the places have reported by now. Two ports have no common order, and whoever asks may have
   * been told by a place of what that has reported.
   */
  async caughtUp(): Promise<void> {
    await Promise.all([...this].map(({ incarnation }) => this.#caughtUpWith(incarnation)));
  }

  #caughtUpWith(of: ThreadIncarnation): Promise<void> | undefined {
    const reports = of.reported;
    if (of.hasHeard(reports)) return undefined;
    return new Promise((resolve) => this.#catchingUp.add({ of, reports, resolve }));
  }

  #hear(incarnation: ThreadIncarnation, report: NodeReport): void {
    incarnation.heard = (incarnation.heard + 1) | 0;
    try {
      this.#listener.heard(incarnation, report);
    } finally {
      for (const waiting of this.#catchingUp)
        if (waiting.of === incarnation && incarnation.hasHeard(waiting.reports)) this.#letGo(waiting);
    }
  }

  #letGo(waiting: CatchingUp): void {
    this.#catchingUp.delete(waiting);
    waiting.resolve();
  }

  #connect(thread: ThreadHandle, spawned: Spawned): void {
    const { incarnation, connection } = thread;
    connection.serve({}, (report) => this.#hear(incarnation, report as NodeReport));
    spawned.onExit((reason, isItsWord) =>
      // Nobody can say any more where the text came from: from whatever was in the thread.
      this.#died(thread, spawned, { reason, ...(isItsWord && { taint: [`thread:${thread.id}`] }) }),
    );
    this.connectJournal(thread);
    if (this.#inspection !== undefined) this.tell(thread, { t: 'inspect', ...this.#inspection });
    if (this.#config !== undefined) this.tell(thread, { t: 'config', config: this.#config });
    if (this.#isDraining) this.tell(thread, { t: 'drain' });
  }

  /** Before it hosts anybody: from then on it may send. */
  connectJournal(thread: ThreadHandle): void {
    const { journal } = this.#deps;
    if (journal === undefined) return;
    const access = journal.connect();
    this.tell(thread, { t: 'journal', access }, [access.line, access.api]);
  }

  #died(thread: ThreadHandle, spawned: Spawned, why: Omit<Ending, 'isCharged'>): void {
    if (thread.spawned !== spawned) return;
    const { incarnation: dead, ending = { ...why, isCharged: true } } = thread;
    thread.isUp = false;
    thread.ending = undefined;
    this.#watchdog.unwatch(thread.id);
    thread.connection.cut(threadDied(thread.id, thread.id));
    for (const waiting of this.#catchingUp) if (waiting.of === dead) this.#letGo(waiting);
    if (this.isClosing) return;
    this.#deps.incarnations.retire(dead);
    this.#deps.log.note('place-died', { place: thread.id, reason: ending.reason });
    this.#listener.died(thread, dead, ending);
  }

  #nodeBoot(id: string, incarnation: ThreadIncarnation): NodeBoot {
    const { accounts, agentStatus, options } = this.#boot;
    const { broadcastToSender, cpu, watchdog, starting, events, peers } = options;
    const common = { accounts, agentStatus, broadcastToSender, cpu, watchdog, starting, events, peers };
    const table = this.#deps.agents.snapshot();
    return { id, incarnation: incarnation.number, ...incarnation.memories, ...common, table };
  }

  /** Joins two places; the other one is told of the death of the first one's former thread. */
  #link(thread: ThreadHandle, other: ThreadHandle): void {
    const { spawner } = this.#deps;
    const [here, there] = spawner.channel();
    const credit = newCreditMemory();
    const ports = [spawner.transferable(here), spawner.transferable(there)] as const;
    const tell = (to: ThreadHandle, of: ThreadHandle, side: 0 | 1, death: ThreadDeath | undefined): void => {
      const port = ports[side];
      const { number: incarnation } = of.incarnation;
      this.tell(to, { t: 'link', place: of.id, incarnation, port, credit, side, death }, [port]);
    };
    tell(thread, other, 0, undefined);
    tell(other, thread, 1, thread.untold);
  }
}
