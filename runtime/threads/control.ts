import type { CpuPoolOptions } from '../actor/offload.ts';
import { DeadLetterBook } from '../mailbox/dead-letter-book.ts';
import { conservationOf, isAllSettled } from '../observe/conservation.ts';
import { EventRing } from '../observe/event-ring.ts';
import type { SystemEvent } from '../observe/system-event.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { agentNotFound, deadlineExceeded, errorFromData, invalidOptions, isOrreryError, moduleInvalid, threadDied } from '../protocol/errors.ts';
import type { RoutingConfig } from '../protocol/routing-config.ts';
import type { Seams } from '../protocol/seams.ts';
import { type AgentProfile, deltaOf, RoutingTable, type RowData, type TableDelta } from '../routing/routing-table.ts';
import { Supervisor } from '../supervision/supervisor.ts';
import type { SupervisorOptions } from '../supervision/supervisor-options.ts';
import type { WatchdogOptions } from '../supervision/watchdog.ts';
import type { Conservation, DeadLetter, RosterRow } from '../system/system.ts';
import type { PlaceMessage } from './lines.ts';
import type { LoadedAgent } from './place-host.ts';
import { type Ending, type PlaceRecord, Places } from './places.ts';
import type { Port } from './port.ts';
import type { Seat, SeatMemories } from './seat.ts';
import { SeatBook } from './seat-book.ts';
import type { Spawner } from './spawner.ts';

const IDLE_POLL_MS = 10;
const SHUTDOWN_MS = 3_000;
/** How long a module may take to load. */
const LOAD_MS = 10_000;
const BEAT_MS = 100;
const EVENTS_KEPT = 1_024;
/** How often the counts are taken again while envelopes move between two of them. */
const COUNTINGS = 10;
/** Deaths of its thread that are charged to one agent before it gets a thread of its own. */
const OFFENCES = 2;
/** Such threads at most: each costs as much memory as thousands of agents. */
const MAX_SOLO = 8;

/** An agent to be started: the module that holds it, in which place, and as whom. */
export interface AgentOrder {
  readonly module: string;
  readonly isInline: boolean;
  /** Ids of its instances; its own id without. */
  readonly ids: readonly string[] | undefined;
  readonly lazy: boolean | undefined;
  /** The card that it is registered under already, instead of the module's. */
  readonly card: AgentCard | undefined;
}

export interface ControlOptions {
  readonly workers: number;
  readonly broadcastToSender: boolean;
  readonly cpu: CpuPoolOptions;
  readonly supervision: SupervisorOptions;
  readonly watchdog: WatchdogOptions;
}

export interface ControlDeps {
  readonly seams: Seams;
  readonly spawner: Spawner;
  readonly options: ControlOptions;
  /** What a worker needs to make its policies, passed on as it is. */
  readonly workerOptions: unknown;
  readonly hostLine: Port;
  readonly hostApi: Port;
  readonly hostSeat: SeatMemories;
  /** A number that this thread changes while it lives; the embedder's thread watches it. */
  readonly beat: SharedArrayBuffer;
}

interface AgentRecord {
  readonly id: string;
  readonly slot: number;
  readonly module: string;
  profile: AgentProfile;
  place: string;
  /** Deaths of its thread that were charged to it. */
  offences: number;
  /** A death that its supervisor has not been told of, because its new thread is not up yet. */
  untold: { readonly reason: string; readonly charged: boolean } | undefined;
  /** Its module was being loaded when the thread died: it is not loaded again. */
  broken: string | undefined;
  gaveUp: string | undefined;
}

/** Agents that are being hosted, and what waits for it. */
interface Hosting {
  readonly place: PlaceRecord;
  readonly agents: readonly AgentRecord[];
  readonly settle: (error: Error | undefined) => void;
}

/**
 * The thread that decides: supervisor, watchdog, registry authority and timers live here, so that a blocked embedder or
 * a looping worker stops nothing. It runs no agent's code.
 */
export class Control {
  readonly #deps: ControlDeps;
  readonly #table = new RoutingTable();
  readonly #supervisor: Supervisor;
  readonly #seats = new SeatBook();
  readonly #places: Places;
  readonly #agents = new Map<string, AgentRecord>();
  readonly #bySlot: AgentRecord[] = [];
  readonly #events = new EventRing<SystemEvent>(EVENTS_KEPT);
  readonly #letters = new DeadLetterBook();
  readonly #hosted = new Map<number, Hosting>();
  readonly #firstStarts = new Map<string, () => void>();
  readonly #ended = new Map<number, () => void>();
  readonly #beat: Int32Array;
  #config: RoutingConfig | undefined;
  #version = 0;
  #nextRef = 0;
  #inspected = false;
  #isStopping = false;
  #stopBeat: () => void = () => undefined;

  constructor(deps: ControlDeps) {
    this.#deps = deps;
    const { seams, options, spawner, workerOptions } = deps;
    this.#beat = new Int32Array(deps.beat);
    this.#supervisor = new Supervisor(
      {
        seams,
        start: (ids) => this.#order('start', ids),
        stop: (ids) => this.#endAll(ids),
        onEvent: (event) => this.#note(event),
        onGaveUp: (id, reason) => this.#gaveUp(id, reason),
      },
      options.supervision,
    );
    this.#places = new Places({
      seams,
      spawner,
      workerOptions,
      seats: this.#seats,
      broadcastToSender: options.broadcastToSender,
      cpu: options.cpu,
      watchdog: options.watchdog,
      table: () => this.#table.snapshot(),
      onMessage: (seat, message) => this.#hear(seat, message),
      onDeath: (place, dead, ending) => this.#succeed(place, dead, ending),
      note: (type, facts) => this.#note(this.#event(type, facts)),
    });
    this.#live();
  }

  /** Starts the worker threads and connects everybody with everybody. */
  async boot(): Promise<void> {
    const { hostLine, hostApi, hostSeat, options } = this.#deps;
    this.#places.addHost(this.#seats.open(hostSeat), hostLine, hostApi);
    const workers = Array.from({ length: options.workers }, (_, at) => this.#places.open(`worker-${at + 1}`));
    for (const worker of workers) this.#places.join(worker);
    await Promise.all([...this.#places].map(({ caller }) => caller.api.stats()));
  }

  // The api of the host

  /** Starts agents. Resolves when each has been started once or waits for its first envelope. */
  async start(orders: readonly AgentOrder[]): Promise<void> {
    const loaded: { order: AgentOrder; agent: LoadedAgent; place: string }[] = [];
    for (const order of orders) {
      const place = order.isInline ? 'host' : this.#leastLoaded(loaded.map((one) => one.place));
      const agent = await this.#load(place, order.module);
      loaded.push({ order, place, agent: { ...agent, card: order.card ?? agent.card } });
    }
    const records: AgentRecord[] = [];
    for (const { order, agent, place } of loaded) {
      records.push(...this.#register(order, agent, place, this.#bySlot.length + records.length));
    }
    const ids = new Set<string>();
    for (const { id } of records) {
      if (this.#agents.has(id) || ids.has(id)) throw invalidOptions('agents', id, 'an id that no other agent has');
      ids.add(id);
    }
    for (const record of records) {
      this.#agents.set(record.id, record);
      this.#bySlot[record.slot] = record;
    }
    const restartOf = new Map(loaded.map(({ agent }) => [agent.card, agent.restart]));
    for (const { id, profile } of records) {
      this.#supervisor.add(id, { restart: restartOf.get(profile.card) ?? 'permanent' });
    }
    const delta = this.#delta(records);
    try {
      await this.#hostAll(records, delta);
    } catch (error) {
      this.#withdraw(records);
      throw error;
    }
    this.#places.tellAll({ t: 'table', delta });
    await this.#startAll(records);
  }

  /** Nothing is half-done: of agents that could not be hosted none is left. */
  #withdraw(records: readonly AgentRecord[]): void {
    for (const { id } of records) this.#forget(id);
    this.#version += 1;
    const delta = { version: this.#version, profiles: [], upsert: [], remove: records.map(({ id }) => id) };
    this.#table.apply(delta);
    this.#places.tellAll({ t: 'table', delta });
  }

  /** Orders a write of the host's registry among all others and tells every thread. */
  async announce({ profiles, upsert, remove }: TableDelta): Promise<void> {
    for (const id of remove) if (this.#agents.has(id)) await this.stopAgent(id);
    for (const id of remove) this.#forget(id);
    for (const { id, profile } of upsert) {
      const agent = this.#agents.get(id);
      if (agent !== undefined) agent.profile = profiles[profile] as AgentProfile;
    }
    this.#version += 1;
    const delta = { version: this.#version, profiles, upsert, remove };
    this.#table.apply(delta);
    this.#places.tellAll({ t: 'table', delta });
  }

  #forget(id: string): void {
    if (this.#agents.delete(id)) this.#supervisor.remove(id);
  }

  roster(): RosterRow[] {
    const waiting = this.#seats.waiting();
    return [...this.#agents.values()].map((agent) => {
      const { status, restarts, lastError } = this.#supervisor.status(agent.id);
      const { card } = agent.profile;
      return {
        id: agent.id,
        name: card.name,
        tier: card.tier,
        capabilities: agent.profile.capabilityIds,
        place: agent.place,
        status,
        waiting: waiting.get(agent.slot) ?? 0,
        restarts,
        ...(lastError === undefined ? {} : { lastError }),
      };
    });
  }

  /** Starts a stopped or failed agent again. */
  restart(id: string): void {
    this.#agent(id).gaveUp = undefined;
    this.#supervisor.restart(id);
  }

  /** Ends one agent; resolves when it is gone. */
  async stopAgent(id: string): Promise<void> {
    const { slot } = this.#agent(id);
    this.#supervisor.stop(id);
    await new Promise<void>((resolve) => {
      this.#ended.set(slot, resolve);
      this.#order('stop', [id]);
    });
  }

  /** Ends a worker thread from outside; resolves when its successor is up. */
  async terminate(id: string): Promise<void> {
    this.#places.end(id, { reason: 'it was ended from outside', isCharged: false });
    await new Promise<void>((resolve) => this.#places.whenUp(this.#places.get(id), resolve));
  }

  configure(config: RoutingConfig): void {
    this.#config = { ...this.#config, ...config };
    this.#places.tellAll({ t: 'config', config });
  }

  inspect(isOn: boolean): void {
    this.#inspected = isOn;
    this.#places.tellAll({ t: 'inspect', isOn });
  }

  async recentEvents(): Promise<readonly SystemEvent[]> {
    const lists = await this.#places.askAll((api) => api.recentEvents());
    return [...this.#events.toArray(), ...lists.flat()].sort((one, other) => one.timestamp - other.timestamp);
  }

  async thread(correlationId: string): Promise<readonly A2AEnvelope[]> {
    const envelopes = (await this.#places.askAll((api) => api.thread(correlationId))).flat();
    const known = new Map(envelopes.map((envelope) => [envelope.id, envelope]));
    return [...known.values()].sort((one, other) => one.timestamp - other.timestamp);
  }

  deadLetters(): readonly DeadLetter[] {
    return this.#letters.toArray();
  }

  /** Asked again while envelopes move between the counts of two threads. */
  async conservation(): Promise<Conservation> {
    for (let attempt = 1; ; attempt++) {
      const before = this.counts();
      const stats = await this.#places.askAll((api) => api.stats());
      // Nobody has in hand yet what waits for a thread that is not up.
      const homeless = this.#seats.orphaned((slot) => this.#placeOf(slot)?.isUp === false);
      const inFlight = stats.reduce((sum, one) => sum + one.inFlight, homeless);
      const { isExact, ...account } = conservationOf(before, this.counts(), inFlight);
      if (isExact || attempt >= COUNTINGS) return account;
      await this.#pause();
    }
  }

  /** The counters of all threads, added up. */
  counts(): Float64Array {
    return this.#seats.counts();
  }

  /** Waits until nothing is in hand or waits, at most `drainMs`; then ends every agent and thread. */
  async stop(drainMs: number): Promise<void> {
    const { clock } = this.#deps.seams;
    const untilMs = clock.now() + drainMs;
    while (clock.now() < untilMs && !(await this.#isIdle())) await this.#pause();
    this.#isStopping = true;
    this.#stopBeat();
    this.#supervisor.close();
    this.#places.beginClosing();
    await this.#places.askAll((api) => api.shutdown(), SHUTDOWN_MS);
    await this.#places.close();
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#deps.seams.clock.setTimer(IDLE_POLL_MS, resolve));
  }

  // Agents

  /** A heavy module may compute for seconds while it is imported; one that never ends costs its thread. */
  async #load(place: string, module: string): Promise<LoadedAgent> {
    this.#places.unwatch(place);
    try {
      return await this.#places.get(place).caller.api.load(module);
    } catch (error) {
      if (isOrreryError(error) && error.code === 'DEADLINE_EXCEEDED') {
        this.#places.end(place, { reason: `importing ${module} did not end`, isCharged: false });
      }
      throw unloadable(module, error);
    } finally {
      this.#places.watch(place);
    }
  }

  #register(
    { module, ids, lazy }: AgentOrder,
    loaded: LoadedAgent,
    place: string,
    firstSlot: number,
  ): AgentRecord[] {
    const { card, delivery, mailboxCapacity } = loaded;
    const profile: AgentProfile = {
      card,
      capabilityIds: card.capabilities.map((capability) => capability.id),
      delivery,
      mailboxCapacity,
      lazy: lazy ?? loaded.lazy,
    };
    return (ids ?? [card.id]).map((id, at) => ({
      id,
      slot: firstSlot + at,
      module,
      profile,
      place,
      offences: 0,
      untold: undefined,
      broken: undefined,
      gaveUp: undefined,
    }));
  }

  #delta(records: readonly AgentRecord[]): TableDelta {
    const profiles = [...new Set(records.map((record) => record.profile))];
    const indexes = new Map(profiles.map((profile, index) => [profile, index]));
    const upsert: RowData[] = records.map(({ id, slot, place, profile }) => ({
      id,
      slot,
      place,
      profile: indexes.get(profile) as number,
      revision: 0,
    }));
    this.#version += 1;
    const delta = { version: this.#version, profiles, upsert, remove: [] };
    this.#table.apply(delta);
    return delta;
  }

  async #hostAll(records: readonly AgentRecord[], delta: TableDelta): Promise<void> {
    const byPlace = Map.groupBy(records, ({ place }) => place);
    await Promise.all(
      [...byPlace].map(async ([id, here]) => {
        try {
          await this.#hostAt(this.#places.get(id), here, { delta, isAgain: false });
        } catch (error) {
          throw unloadable(here.map(({ module }) => module).join(), error);
        }
      }),
    );
  }

  #hostAt(
    place: PlaceRecord,
    agents: readonly AgentRecord[],
    { delta, isAgain }: { delta: TableDelta; isAgain: boolean },
  ): Promise<void> {
    const ref = this.#nextRef++;
    return new Promise((resolve, reject) => {
      const cancel = this.#deps.seams.clock.setTimer(LOAD_MS, () => {
        if (isAgain) this.#places.end(place.id, { reason: `loading ${agents[0]?.module} did not end`, isCharged: true });
        else this.#hosted.delete(ref);
        settle(deadlineExceeded(`Loading ${agents[0]?.module}`, LOAD_MS));
      });
      const settle = (error: Error | undefined): void => {
        cancel();
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#hosted.set(ref, { place, agents, settle });
      const orders = agents.map(({ id, module, broken }) => ({ id, module, broken }));
      this.#places.tell(place, { t: 'host', ref, delta, agents: orders, isAgain });
    });
  }

  async #startAll(records: readonly AgentRecord[]): Promise<void> {
    const firstStarts = records
      .filter((record) => !record.profile.lazy)
      .map(({ id }) => new Promise<void>((resolve) => this.#firstStarts.set(id, resolve)));
    this.#order(
      'start',
      records.map((record) => record.id),
    );
    await Promise.all(firstStarts);
  }

  /** Tells the places of these agents what to do with them, in their order. */
  #order(t: 'start' | 'halt' | 'stop', ids: readonly string[]): void {
    const slots = new Map<string, number[]>();
    for (const id of ids) {
      const { place, slot } = this.#agent(id);
      const here = slots.get(place) ?? [];
      here.push(slot);
      slots.set(place, here);
    }
    for (const [id, here] of slots) {
      const place = this.#places.get(id);
      this.#places.whenUp(place, () => this.#places.tell(place, { t, slots: here }));
    }
  }

  /** Ends agents whose supervisor has decided what they are from now on: ended for good, or about to be restarted. */
  #endAll(ids: readonly string[]): void {
    const isStopped = (id: string): boolean => this.#supervisor.status(id).status === 'stopped';
    this.#order('stop', ids.filter(isStopped));
    this.#order(
      'halt',
      ids.filter((id) => !isStopped(id)),
    );
  }

  /** Empties the mailboxes of those that do not come back: their restart kind says so. */
  #endStopped(ids: readonly string[]): void {
    const stopped = ids.filter((id) => this.#agents.has(id) && this.#supervisor.status(id).status === 'stopped');
    if (stopped.length > 0) this.#order('stop', stopped);
  }

  #gaveUp(id: string, reason: string): void {
    const agent = this.#agent(id);
    const place = this.#places.get(agent.place);
    agent.gaveUp = reason;
    this.#places.whenUp(place, () => this.#places.tell(place, { t: 'give-up', slot: agent.slot, reason }));
    this.#firstStartEnded(id);
  }

  #firstStartEnded(id: string): void {
    this.#firstStarts.get(id)?.();
    this.#firstStarts.delete(id);
  }

  #agent(id: string): AgentRecord {
    const agent = this.#agents.get(id);
    if (agent === undefined) throw agentNotFound(id);
    return agent;
  }

  #agentsAt(place: string): AgentRecord[] {
    return [...this.#agents.values()].filter((agent) => agent.place === place);
  }

  #placeOf(slot: number): PlaceRecord | undefined {
    const agent = this.#bySlot[slot];
    return agent === undefined ? undefined : this.#places.get(agent.place);
  }

  #leastLoaded(taken: readonly string[]): string {
    const load = new Map<string, number>();
    for (const { id } of this.#places) if (id.startsWith('worker-')) load.set(id, 0);
    for (const { place } of this.#agents.values()) if (load.has(place)) load.set(place, (load.get(place) as number) + 1);
    for (const place of taken) if (load.has(place)) load.set(place, (load.get(place) as number) + 1);
    const [first] = [...load].sort(([, one], [, other]) => one - other);
    return first?.[0] ?? 'host';
  }

  #hear(seat: Seat, message: PlaceMessage): void {
    switch (message.t) {
      case 'flow-slab':
        seat.addFlowSlab(message.index, message.memory);
        return;
      case 'name-slab':
        seat.addNameSlab(message.memory);
        return;
      case 'kept':
        for (const { seat: of, flow, mail } of message.kept) this.#seats.keep(of, flow, mail);
        return;
      case 'dead-letters':
        for (const letter of message.letters) this.#letters.add(letter);
        return;
      case 'received-all':
        return;
      case 'hosted':
        this.#hosted.get(message.ref)?.settle(message.error === undefined ? undefined : errorFromData(message.error));
        this.#hosted.delete(message.ref);
        return;
      case 'started':
        this.#lifeOf(message.slot, (id) => {
          this.#supervisor.started(id);
          this.#firstStartEnded(id);
        });
        return;
      case 'crashed':
        this.#lifeOf(message.slot, (id) => {
          this.#supervisor.crashed(id, { reason: message.reason, charged: true });
          this.#endStopped([id]);
          this.#firstStartEnded(id);
        });
        return;
      case 'exited':
        this.#lifeOf(message.slot, (id) => {
          this.#supervisor.exited(id);
          this.#endStopped([id]);
          this.#firstStartEnded(id);
        });
        return;
      case 'ended':
        this.#hasEnded(message.slot);
        return;
      case 'events':
        if (this.#inspected) this.#places.tell(this.#places.get('host'), { t: 'events', events: message.events });
        return;
      default:
        throw invalidOptions(`message of seat ${seat.number}`, message, 'a place message');
    }
  }

  #lifeOf(slot: number, tell: (id: string) => void): void {
    const agent = this.#bySlot[slot];
    if (agent !== undefined && !this.#isStopping) tell(agent.id);
  }

  #hasEnded(slot: number): void {
    this.#ended.get(slot)?.();
    this.#ended.delete(slot);
  }

  // Death and succession

  /** A place's thread is gone: new ones take its agents over, and everything that was under way is accounted for. */
  #succeed(place: PlaceRecord, dead: Seat, { reason, isCharged }: Ending): void {
    const agents = this.#agentsAt(place.id);
    const culprits = isCharged ? this.#culprits(place, dead, agents) : [];
    for (const culprit of culprits) culprit.offences += 1;
    for (const agent of agents) {
      agent.untold = { reason, charged: culprits.includes(agent) || agent.untold?.charged === true };
    }
    const charge = (isCharged ? dead.inHand?.charge : undefined) ?? place.untold?.charge;
    const death = { reason, charge };
    const apart = agents.length > 1 ? this.#moveApart(culprits) : [];
    place.untold = death;
    this.#places.reopen(place);
    void this.#revive(place);
    for (const agent of apart) {
      const own = this.#places.open(agent.place);
      own.untold = death;
      void this.#revive(own);
    }
  }

  /**
   * Whom a death is charged to: the agent whose code ran; or else all that had something in hand, that were starting,
   * or, when the thread died of nothing that can be seen, that lived in it.
   */
  #culprits(place: PlaceRecord, dead: Seat, agents: readonly AgentRecord[]): readonly AgentRecord[] {
    const loading = this.#wereLoading(place);
    if (loading.length > 0) return loading;
    const current = dead.inHand === undefined ? undefined : this.#bySlot[dead.inHand.slot];
    if (current !== undefined) return [current];
    const inHand = this.#seats.inHand();
    const suspects = agents.filter(({ slot }) => inHand.has(slot));
    if (suspects.length > 0) return suspects;
    const starting = agents.filter(
      ({ id, profile }) => !profile.lazy && this.#supervisor.status(id).status === 'starting',
    );
    return starting.length > 0 ? starting : agents;
  }

  /** Fails what waits for agents to be hosted there. Modules that a revived thread died over are not loaded again. */
  #wereLoading(place: PlaceRecord): readonly AgentRecord[] {
    const loading: AgentRecord[] = [];
    for (const [ref, hosting] of this.#hosted) {
      if (hosting.place !== place) continue;
      this.#hosted.delete(ref);
      for (const agent of hosting.agents) agent.broken = 'its thread died while it was loaded';
      loading.push(...hosting.agents);
      hosting.settle(threadDied(place.id, place.id));
    }
    return loading;
  }

  /** Gives repeat offenders places of their own: whoever shares a thread with them is rid of them. */
  #moveApart(culprits: readonly AgentRecord[]): readonly AgentRecord[] {
    const solo = [...this.#places].filter(({ id }) => id.startsWith('solo-')).length;
    const apart = culprits.filter(({ offences }) => offences >= OFFENCES).slice(0, MAX_SOLO - solo);
    if (apart.length === 0) return apart;
    const rows = apart.map((agent) => {
      agent.place = `solo-${agent.id}`;
      const row = this.#table.get(agent.id);
      const { id, slot, profile, place } = agent;
      return { id, slot, place, profile: row?.profile ?? profile, revision: row?.revision ?? 0 };
    });
    this.#version += 1;
    const delta = deltaOf(this.#version, rows);
    this.#table.apply(delta);
    this.#places.tellAll({ t: 'table', delta });
    return apart;
  }

  /** Hosts a place's agents in its new thread, hands over the mail of the old one, and has them restarted. */
  async #revive(place: PlaceRecord): Promise<void> {
    const { spawned } = place;
    try {
      await this.#hostAgain(place, this.#agentsAt(place.id));
    } catch {
      // That thread died too; its own succession goes on from there.
      return;
    }
    if (place.spawned !== spawned || this.#isStopping || place.untold === undefined) return;
    const agents = this.#agentsAt(place.id);
    if (this.#inspected) this.#places.tell(place, { t: 'inspect', isOn: true });
    if (this.#config !== undefined) this.#places.tell(place, { t: 'config', config: this.#config });
    for (const agent of agents) this.#layToRest(place, agent);
    const slots = new Set(agents.map(({ slot }) => slot));
    const replays = this.#seats.replays({
      death: place.untold,
      isThere: (slot) => slots.has(slot),
      idOf: (slot) => this.#bySlot[slot]?.id,
    });
    if (replays.length > 0) this.#places.tell(place, { t: 'replay', replays });
    this.#places.join(place);
    this.#seats.prune();
    this.#note(this.#event('place-started', { place: place.id }));
    this.#reportDeaths(agents);
    this.#places.announce(place);
  }

  async #hostAgain(place: PlaceRecord, agents: readonly AgentRecord[]): Promise<void> {
    const delta = { version: this.#version, profiles: [], upsert: [], remove: [] };
    const modules = Map.groupBy(agents, ({ module }) => module);
    // One after the other: if the thread dies over it, it is known which module it was.
    for (const alike of modules.values()) await this.#hostAt(place, alike, { delta, isAgain: true });
  }

  /** An agent that has failed or was stopped is so in its new thread, too. */
  #layToRest(place: PlaceRecord, { id, slot, gaveUp }: AgentRecord): void {
    const { status } = this.#supervisor.status(id);
    if (status === 'failed') this.#places.tell(place, { t: 'give-up', slot, reason: gaveUp ?? 'it had failed before' });
    if (status === 'stopped') this.#places.tell(place, { t: 'stop', slots: [slot] });
  }

  #reportDeaths(agents: readonly AgentRecord[]): void {
    const crashes = agents.flatMap(({ id, untold }) => (untold === undefined ? [] : [{ agentId: id, ...untold }]));
    for (const agent of agents) agent.untold = undefined;
    this.#supervisor.crashedTogether(crashes);
    this.#endStopped(crashes.map(({ agentId }) => agentId));
    for (const { agentId, charged } of crashes) if (charged) this.#firstStartEnded(agentId);
  }

  // What is seen

  #note(event: SystemEvent): void {
    const placed = { place: 'control', ...event };
    this.#events.push(placed);
    if (this.#inspected) this.#places.tell(this.#places.get('host'), { t: 'events', events: [placed] });
  }

  #event(type: SystemEvent['type'], facts: Partial<SystemEvent>): SystemEvent {
    return { type, timestamp: this.#deps.seams.clock.now(), ...facts };
  }

  async #isIdle(): Promise<boolean> {
    if (!this.#places.areUp) return false;
    const before = this.counts();
    const stats = await this.#places.askAll((api) => api.stats());
    if (stats.length < [...this.#places].length || !stats.every((one) => one.isIdle)) return false;
    return isAllSettled(before, this.counts());
  }

  #live(): void {
    this.#beat[0] = ((this.#beat[0] as number) + 1) | 0;
    this.#seats.trim();
    this.#stopBeat = this.#deps.seams.clock.setTimer(BEAT_MS, () => this.#live());
  }
}

function unloadable(module: string, error: unknown): Error {
  if (isOrreryError(error) && error.code === 'MODULE_INVALID') return error;
  return moduleInvalid(module, `loading it failed: ${error instanceof Error ? error.message : String(error)}`, error);
}
