import type { AgentCard } from '../protocol/agent-card.ts';
import { invalidOptions, isOrreryError, moduleInvalid, reasonOf } from '../protocol/errors.ts';
import type { ProcessOptions } from '../agent/process-options.ts';
import type { TableChange } from '../routing/routing-table.ts';
import type { AgentProfile, Clearance } from '../protocol/agent-row.ts';
import type { Supervising, Supervisor } from '../supervision/supervisor.ts';
import type { AgentTable, AgentEntry } from './agent-table.ts';
import type { AgentLives } from './agent-lives.ts';
import { type Hosting, notLoaded } from './hosting.ts';
import { concurrencyOf, type LoadedAgent, requireRunnable, clearanceOf } from '../agent/loaded-agent.ts';
import type { Threads } from './threads.ts';

/** An agent to be started: the module that holds it, in which place, and as whom. */
export interface AgentOrder {
  readonly module: string;
  readonly isInline: boolean;
  /** How its process is run, if its code is to run in one of its own. */
  readonly process: ProcessOptions | undefined;
  /** Ids of its instances; its own id without. */
  readonly ids: readonly string[] | undefined;
  readonly lazy: boolean | undefined;
  /** The card that it is registered under already, instead of the module's. */
  readonly card: AgentCard | undefined;
  /** It is of another node. @default false */
  readonly isPeer?: boolean;
}

/** The place of live agents: the embedder's thread. */
const HOST = 'host';
/** The place of agents whose code runs in processes of their own; no agent's code runs in its thread. */
const RELAY = 'relay';
/** The place that speaks with other nodes, and where their agents have their mailboxes. */
export const PEERS = 'peers';

/** An agent that is to be started, and where. */
interface Placed {
  readonly order: AgentOrder;
  readonly place: string;
}

const ALWAYS: Supervising = { restart: 'permanent' };

interface Loaded extends Placed {
  readonly agent: LoadedAgent;
}

export interface EnrolmentDeps {
  readonly agents: AgentTable;
  readonly threads: Threads;
  readonly hosting: Hosting;
  readonly supervisor: Supervisor;
  readonly lives: AgentLives;
}

export interface EnrolmentOptions {
  /** How many worker threads there may be. */
  readonly workers: number;
  /** Whose mailboxes outlive the process; undefined without a journal. */
  readonly durable: 'declared' | 'all' | undefined;
}

/** Takes agents into the system: loads what they are, gives each a place and a slot, and has everybody know it. */
export class Enrolment {
  readonly #deps: EnrolmentDeps;
  readonly #options: EnrolmentOptions;

  constructor(deps: EnrolmentDeps, options: EnrolmentOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Takes in all or none. Resolves when their places host them; nobody is started yet. */
  async enrol(orders: readonly AgentOrder[]): Promise<readonly AgentEntry[]> {
    const { agents, threads, supervisor } = this.#deps;
    const loaded = await this.#loadAll(this.#placed(orders));
    const entries: AgentEntry[] = [];
    for (const { order, agent, place } of loaded) {
      const durable = this.#isDurable(agent);
      requireRunnable(agent, durable);
      const firstSlot = agents.nextSlot + entries.length;
      // Who hosts a remote agent here does not make it one of ours.
      const clearance = order.card === undefined ? clearanceOf(agent) : agents.clearanceOf(order.card.id);
      entries.push(...entriesOf(order, agent, { place, firstSlot, durable, clearance }));
    }
    this.#makeWay(entries);
    const ids = new Set<string>();
    for (const { id } of entries) {
      if (agents.has(id) || ids.has(id)) throw invalidOptions('agents', id, 'an id that no other agent has');
      ids.add(id);
    }
    const agentOf = new Map(loaded.map(({ agent }) => [agent.card, agent]));
    const supervisings = entries.map(({ profile }) => agentOf.get(profile.card) ?? ALWAYS);
    for (const [at, { id }] of entries.entries()) supervisor.requireAlone(id, supervisings[at]?.supervision);
    for (const [at, { id }] of entries.entries()) supervisor.add(id, supervisings[at] ?? ALWAYS);
    const change = agents.add(entries);
    try {
      await this.#hostAll(entries, change);
      this.#requireStillIn(entries);
    } catch (error) {
      this.#withdraw(entries.filter((entry) => this.#isStillIn(entry)));
      throw error;
    }
    threads.tellAll({ t: 'table', delta: agents.write(change) });
    return entries;
  }

  /** An agent of this node may have made one of another node give way while that was being hosted. */
  #requireStillIn(entries: readonly AgentEntry[]): void {
    const gone = entries.find((entry) => !this.#isStillIn(entry));
    if (gone !== undefined) throw invalidOptions('agents', gone.id, 'an id that no other agent has');
  }

  #isStillIn(entry: AgentEntry): boolean {
    return this.#deps.agents.find(entry.id) === entry;
  }

  /** An agent of this node has its id before any of another node. */
  #makeWay(entries: readonly AgentEntry[]): void {
    const { agents } = this.#deps;
    const others = entries.flatMap(({ id, place }) => {
      const known = place === PEERS ? undefined : agents.find(id);
      return known?.place === PEERS ? [known] : [];
    });
    if (others.length > 0) this.#withdraw(others);
  }

  #isDurable({ durable }: LoadedAgent): boolean {
    const { durable: whose } = this.#options;
    return whose !== undefined && (durable ?? whose === 'all');
  }

  /** Forgets an agent; its row stays until it is removed. */
  forget(id: string): void {
    if (this.#deps.agents.forget(id)) this.#deps.supervisor.remove(id);
  }

  /** Nothing is half-done: of agents that could not be hosted none is left. */
  #withdraw(entries: readonly AgentEntry[]): void {
    const { agents, threads, lives } = this.#deps;
    for (const { id } of entries) this.forget(id);
    const delta = agents.write({ profiles: [], upsert: [], remove: entries.map(({ id }) => id) });
    threads.tellAll({ t: 'table', delta });
    lives.forget(entries);
  }

  /** Gives each its place, whose thread gets ready meanwhile if it is not there yet: all that are new start side by side. */
  #placed(orders: readonly AgentOrder[]): readonly Placed[] {
    const taken: string[] = [];
    for (const order of orders) taken.push(this.#placeFor(order, taken));
    for (const place of new Set(taken)) this.#deps.threads.ensure(place);
    return orders.map((order, at) => ({ order, place: taken[at] as string }));
  }

  #placeFor({ isInline, isPeer, process }: AgentOrder, taken: readonly string[]): string {
    if (isInline) return HOST;
    if (isPeer === true) return PEERS;
    return process === undefined ? this.#leastLoaded(taken) : RELAY;
  }

  #leastLoaded(taken: readonly string[]): string {
    const names = Array.from({ length: this.#options.workers }, (_, at) => `worker-${at + 1}`);
    return this.#deps.agents.leastLoaded(names, taken) as string;
  }

  /**
   * What all modules hold. Threads and processes need not wait for each other; in one thread one module is loaded after the
   * other: if the thread dies over it, it is known which it was. Fails as the first does that fails.
   */
  async #loadAll(placed: readonly Placed[]): Promise<readonly Loaded[]> {
    const agents = new Map<Placed, LoadedAgent>();
    let hasFailed = false;
    const loadOne = async (one: Placed): Promise<void> => {
      try {
        agents.set(one, await this.load(one.place, one.order));
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    };
    const inTurn = async (some: readonly Placed[]): Promise<void> => {
      for (const one of some) if (!hasFailed) await loadOne(one);
    };
    const ofProcesses = placed.filter(({ order }) => order.process !== undefined);
    const ofThreads = placed.filter(({ order }) => order.process === undefined);
    const byPlace = Map.groupBy(ofThreads, ({ place }) => place);
    await Promise.all([...ofProcesses.map(loadOne), ...[...byPlace.values()].map(inTurn)]);
    return placed.map((one) => {
      const agent = agents.get(one) as LoadedAgent;
      return { ...one, agent: { ...agent, card: one.order.card ?? agent.card } };
    });
  }

  /**
   * What a module holds, as its place says. A heavy one may compute for seconds while it is imported; one that never ends
   * costs its thread, if that `mayEnd` for it: else the watchdog ends it when it loops.
   */
  load(
    place: string,
    { module, process }: Pick<AgentOrder, 'module' | 'process'>,
    mayEnd = true,
  ): Promise<LoadedAgent> {
    const { threads } = this.#deps;
    const thread = threads.get(place);
    const isElsewhere = process !== undefined;
    return new Promise((resolve, reject) => {
      const endLoading = threads.watchLoading(thread, { isElsewhere }, (still) => {
        if (mayEnd && place !== HOST && !(isElsewhere && still.hasBegun)) {
          threads.end(place, { reason: `importing ${module} did not end`, isCharged: false });
        }
        reject(notLoaded(place, module, still));
      });
      thread.connection.api
        .load(module, process)
        .then(resolve, (error) => reject(unloadable(module, error)))
        .finally(endLoading);
    });
  }

  async #hostAll(entries: readonly AgentEntry[], change: TableChange): Promise<void> {
    const { threads, hosting } = this.#deps;
    const byPlace = Map.groupBy(entries, ({ place }) => place);
    await Promise.all(
      [...byPlace].map(async ([id, here]) => {
        try {
          await hosting.host(threads.get(id), here, { change, isAgain: false });
        } catch (error) {
          throw unloadable(here.map(({ module }) => module).join(), error);
        }
      }),
    );
  }
}

function entriesOf(
  { module, ids, lazy }: AgentOrder,
  loaded: LoadedAgent,
  {
    place,
    firstSlot,
    durable,
    clearance,
  }: {
    readonly place: string;
    readonly firstSlot: number;
    readonly durable: boolean;
    readonly clearance: Clearance | undefined;
  },
): AgentEntry[] {
  const { card, delivery, mailboxCapacity } = loaded;
  const profile: AgentProfile = {
    card,
    capabilityIds: card.capabilities.map((capability) => capability.id),
    delivery,
    mailboxCapacity,
    ...concurrencyOf(loaded),
    lazy: lazy ?? loaded.lazy,
    durable,
    ...(clearance === undefined ? {} : { clearance }),
  };
  return (ids ?? [card.id]).map((id, at) => ({
    id,
    slot: firstSlot + at,
    module,
    process: loaded.process,
    pid: undefined,
    profile,
    place,
    offences: 0,
    untold: undefined,
    broken: undefined,
    gaveUp: undefined,
    parked: undefined,
  }));
}

function unloadable(module: string, error: unknown): Error {
  const code = isOrreryError(error) ? error.code : undefined;
  if (code === 'MODULE_INVALID' || code === 'START_FAILED' || code === 'INVALID_OPTIONS')
    return error as Error;
  if (code === 'THREAD_DIED') {
    const reason = 'its thread ended while it was imported, as by process.exit or for want of memory';
    return moduleInvalid(module, reason, error);
  }
  return moduleInvalid(module, `loading it failed: ${reasonOf(error)}`, error);
}
