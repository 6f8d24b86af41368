import { finishCommit } from '../mailbox/commit-log.ts';
import { DeadLetterBook } from '../mailbox/dead-letter-book.ts';
import { COUNT, COUNTER_WORDS } from '../observe/seat-counters.ts';
import { EventRing } from '../observe/event-ring.ts';
import type { SystemEvent } from '../observe/system-event.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { agentNotFound, deadlineExceeded, errorFromData, invalidOptions, isOrreryError, moduleInvalid, threadDied } from '../protocol/errors.ts';
import type { RoutingConfig } from '../protocol/routing-config.ts';
import type { Seams } from '../protocol/seams.ts';
import { type AgentProfile, RoutingTable, type RowData, type TableDelta } from '../routing/routing-table.ts';
import { Supervisor } from '../supervision/supervisor.ts';
import type { SupervisorOptions } from '../supervision/supervisor-options.ts';
import { Watchdog, type WatchdogOptions } from '../supervision/watchdog.ts';
import type { Conservation, DeadLetter, RosterRow } from '../system/system.ts';
import { Caller } from './calls.ts';
import type { Charge, ControlMessage, PlaceMessage, Replay } from './lines.ts';
import { newCreditMemory } from './link.ts';
import type { LoadedAgent, PlaceBoot, PlaceHost } from './place-host.ts';
import type { Port } from './port.ts';
import { replayOf, Seat, type SeatMemories } from './seat.ts';
import type { Spawned, Spawner } from './spawner.ts';

const CALL_TIMEOUT_MS = 10_000;
const QUERY_TIMEOUT_MS = 500;
const IDLE_POLL_MS = 10;
const TRIM_MS = 100;
const TERMINATE_TIMEOUT_MS = 2_000;
const EVENTS_KEPT = 1_024;
/** Deaths charged to one agent before it gets a thread of its own. */
const OFFENCES = 2;

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
}

interface PlaceRecord {
  readonly id: string;
  seat: Seat;
  line: Port;
  caller: Caller<PlaceHost>;
  spawned: Spawned | undefined;
  isUp: boolean;
  /** Why its thread is being ended; undefined when nobody asked for it. */
  ending: { readonly reason: string; readonly isCharged: boolean } | undefined;
  linked: Set<string>;
}

interface AgentRecord {
  readonly id: string;
  readonly slot: number;
  readonly module: string;
  profile: AgentProfile;
  place: string;
  offences: number;
  isStopping: boolean;
}

/**
 * The thread that decides: supervisor, watchdog, registry authority and timers live here, so that a blocked embedder or
 * a looping worker stops nothing. It runs no agent's code.
 */
export class Control {
  readonly #deps: ControlDeps;
  readonly #table = new RoutingTable();
  readonly #supervisor: Supervisor;
  readonly #watchdog: Watchdog;
  readonly #places = new Map<string, PlaceRecord>();
  readonly #agents = new Map<string, AgentRecord>();
  readonly #bySlot: AgentRecord[] = [];
  readonly #seats = new Map<number, Seat>();
  readonly #deadSeats = new Map<number, Seat>();
  readonly #events = new EventRing<SystemEvent>(EVENTS_KEPT);
  readonly #letters = new DeadLetterBook();
  readonly #hosted = new Map<number, (error: Error | undefined) => void>();
  readonly #firstStarts = new Map<string, () => void>();
  readonly #ended = new Map<number, () => void>();
  /** Counts of threads that are gone. */
  readonly #past = new Float64Array(COUNTER_WORDS);
  #version = 0;
  #nextSeat = 0;
  #nextRef = 0;
  #inspected = false;
  #isStopping = false;
  #stopTrim: () => void = () => undefined;

  constructor(deps: ControlDeps) {
    this.#deps = deps;
    const { seams, options } = deps;
    this.#supervisor = new Supervisor(
      {
        seams,
        start: (ids) => this.#order('start', ids),
        stop: (ids) => this.#order('stop', ids),
        onEvent: (event) => this.#note(event),
        onGaveUp: (id, reason) => this.#gaveUp(id, reason),
      },
      options.supervision,
    );
    this.#watchdog = new Watchdog(
      {
        seams,
        sample: async (id) => {
          const { seat, spawned } = this.#place(id);
          const cpuMs = (await spawned?.cpuMs()) ?? 0;
          return { atMs: seams.clock.monotonicMs(), beat: seat.beat, cpuMs };
        },
        onLoop: (id, { stalledMs }) => {
          this.#note(this.#event('watchdog', { place: id, reason: `it loops since ${Math.round(stalledMs)} ms` }));
          this.#end(this.#place(id), `an endless loop (${Math.round(stalledMs)} ms without a beat)`, true);
        },
        onStarved: (id, { stalledMs }) => {
          const reason = `no sign of life for ${Math.round(stalledMs)} ms, and no processor time`;
          this.#note(this.#event('watchdog', { place: id, reason }));
        },
      },
      options.watchdog,
    );
    this.#trimKept();
  }

  /** Starts the worker threads and connects everybody with everybody. */
  async boot(): Promise<void> {
    const { hostLine, hostApi, hostSeat, options } = this.#deps;
    const seat = new Seat(this.#nextSeat++, hostSeat);
    this.#addPlace('host', seat, hostLine, hostApi, undefined);
    for (let number = 1; number <= options.workers; number++) this.#spawnPlace(`worker-${number}`);
    this.#connectAll();
    await Promise.all([...this.#places.values()].map(({ caller }) => caller.api.stats()));
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
    const delta = this.#delta(records);
    await this.#hostAll(records, delta);
    for (const place of this.#places.values()) this.#tell(place, { t: 'table', delta });
    await this.#startAll(records, loaded);
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
    for (const place of this.#places.values()) this.#tell(place, { t: 'table', delta });
  }

  #forget(id: string): void {
    if (this.#agents.delete(id)) this.#supervisor.remove(id);
  }

  roster(): RosterRow[] {
    const waiting = new Map<number, number>();
    for (const seat of this.#allSeats()) seat.addWaiting(waiting);
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
    this.#agent(id).isStopping = false;
    this.#supervisor.restart(id);
  }

  /** Ends one agent; resolves when it is gone. */
  async stopAgent(id: string): Promise<void> {
    const { slot } = this.#agent(id);
    const { status } = this.#supervisor.status(id);
    if (status !== 'running' && status !== 'starting') return this.#supervisor.stop(id);
    await new Promise<void>((resolve) => {
      this.#ended.set(slot, resolve);
      this.#supervisor.stop(id);
    });
  }

  async terminate(id: string): Promise<void> {
    const place = this.#places.get(id);
    if (place?.spawned === undefined) throw invalidOptions('place', id, 'the name of a worker thread');
    this.#end(place, 'it was ended from outside', false);
    await new Promise<void>((resolve) => this.#whenUp(place, resolve));
  }

  configure(config: RoutingConfig): void {
    for (const place of this.#places.values()) this.#tell(place, { t: 'config', config });
  }

  inspect(isOn: boolean): void {
    this.#inspected = isOn;
    for (const place of this.#places.values()) this.#tell(place, { t: 'inspect', isOn });
  }

  async recentEvents(): Promise<readonly SystemEvent[]> {
    const lists = await this.#askAll((place) => place.caller.api.recentEvents());
    return [...this.#events.toArray(), ...lists.flat()].sort((one, other) => one.timestamp - other.timestamp);
  }

  async thread(correlationId: string): Promise<readonly A2AEnvelope[]> {
    const envelopes = (await this.#askAll((place) => place.caller.api.thread(correlationId))).flat();
    const known = new Map(envelopes.map((envelope) => [envelope.id, envelope]));
    return [...known.values()].sort((one, other) => one.timestamp - other.timestamp);
  }

  deadLetters(): readonly DeadLetter[] {
    return this.#letters.toArray();
  }

  /** Asked again while envelopes move between the counts of two threads. */
  async conservation(): Promise<Conservation> {
    for (let attempt = 0; ; attempt++) {
      const stats = await this.#askAll((place) => place.caller.api.stats());
      const inFlight = stats.reduce((sum, one) => sum + one.inFlight, 0);
      const counts = this.counts();
      const [accepted, handled] = [counts[COUNT.accepted] as number, counts[COUNT.handled] as number];
      const rejected = counts[COUNT.rejected] as number;
      const expired = counts[COUNT.expired] as number;
      const deadLettered = counts[COUNT.deadLettered] as number;
      const holds = accepted === handled + rejected + expired + deadLettered + inFlight;
      if (holds || attempt >= 4) return { accepted, handled, rejected, expired, deadLettered, inFlight, holds };
    }
  }

  /** The counters of all threads, added up. */
  counts(): Float64Array {
    const sum = Float64Array.from(this.#past);
    for (const { seat } of this.#places.values()) {
      new Float64Array(seat.memories.counters).forEach((value, at) => {
        sum[at] = (sum[at] as number) + value;
      });
    }
    return sum;
  }

  /** Waits until nothing is in hand or waits, at most `drainMs`; then ends every agent and thread. */
  async stop(drainMs: number): Promise<void> {
    const { clock } = this.#deps.seams;
    const untilMs = clock.now() + drainMs;
    while (clock.now() < untilMs && !(await this.#isIdle())) {
      await new Promise<void>((resolve) => clock.setTimer(IDLE_POLL_MS, resolve));
    }
    this.#isStopping = true;
    this.#stopTrim();
    this.#supervisor.close();
    this.#watchdog.close();
    await this.#askAll((place) => place.caller.api.shutdown(), 3_000);
    const ended = Promise.all([...this.#places.values()].map((place) => place.spawned?.terminate()));
    // A thread that is stuck in the collector of an exhausted heap cannot be ended.
    await Promise.race([ended, new Promise<void>((resolve) => clock.setTimer(TERMINATE_TIMEOUT_MS, resolve))]);
  }

  // Agents

  /** A heavy module may compute for seconds while it is imported; one that never ends costs its thread. */
  async #load(placeId: string, module: string): Promise<LoadedAgent> {
    const place = this.#place(placeId);
    this.#watchdog.unwatch(placeId);
    try {
      const loaded = await place.caller.api.load(module);
      if (place.spawned !== undefined) this.#watchdog.watch(placeId);
      return loaded;
    } catch (error) {
      if (isOrreryError(error) && error.code === 'DEADLINE_EXCEEDED') {
        this.#end(place, `importing ${module} did not end`, false);
      } else if (place.spawned !== undefined) this.#watchdog.watch(placeId);
      if (isOrreryError(error) && error.code === 'MODULE_INVALID') throw error;
      throw moduleInvalid(module, `loading it failed: ${error instanceof Error ? error.message : String(error)}`, error);
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
      isStopping: false,
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
    const places = new Set(records.map((record) => record.place));
    await Promise.all(
      [...places].map((id) => {
        const here = records.filter((record) => record.place === id);
        return this.#hostAt(this.#place(id), here, delta);
      }),
    );
  }

  #hostAt(place: PlaceRecord, records: readonly AgentRecord[], delta: TableDelta): Promise<void> {
    const ref = this.#nextRef++;
    const agents = records.map(({ id, module }) => ({ id, module }));
    return new Promise((resolve, reject) => {
      const { clock } = this.#deps.seams;
      const cancel = clock.setTimer(CALL_TIMEOUT_MS, () => {
        this.#hosted.delete(ref);
        reject(deadlineExceeded(`The import of ${agents[0]?.module}`, CALL_TIMEOUT_MS));
      });
      this.#hosted.set(ref, (error) => {
        cancel();
        if (error === undefined) resolve();
        else reject(error);
      });
      this.#tell(place, { t: 'host', ref, delta, agents });
    });
  }

  async #startAll(records: readonly AgentRecord[], loaded: readonly { agent: LoadedAgent }[]): Promise<void> {
    const restartOf = new Map(loaded.map(({ agent }) => [agent.card, agent.restart]));
    const firstStarts = records
      .filter((record) => !record.profile.lazy)
      .map(({ id }) => new Promise<void>((resolve) => this.#firstStarts.set(id, resolve)));
    for (const { id, profile } of records) {
      this.#supervisor.add(id, { restart: restartOf.get(profile.card) ?? 'permanent' });
    }
    this.#order(
      'start',
      records.map((record) => record.id),
    );
    await Promise.all(firstStarts);
  }

  /** Tells the places of these agents to start or stop them, in their order. */
  #order(t: 'start' | 'stop', ids: readonly string[]): void {
    const slots = new Map<string, number[]>();
    for (const id of ids) {
      const { place, slot } = this.#agent(id);
      const here = slots.get(place) ?? [];
      here.push(slot);
      slots.set(place, here);
    }
    for (const [id, here] of slots) {
      const place = this.#place(id);
      if (place.isUp) this.#tell(place, { t, slots: here });
      else this.#whenUp(place, () => this.#tell(place, { t, slots: here }));
    }
  }

  #gaveUp(id: string, reason: string): void {
    const { place, slot } = this.#agent(id);
    this.#tell(this.#place(place), { t: 'give-up', slot, reason });
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

  // Places

  #place(id: string): PlaceRecord {
    return this.#places.get(id) as PlaceRecord;
  }

  #leastLoaded(taken: readonly string[]): string {
    const load = new Map<string, number>();
    for (const { id } of this.#places.values()) if (id.startsWith('worker-')) load.set(id, 0);
    for (const { place } of this.#agents.values()) if (load.has(place)) load.set(place, (load.get(place) as number) + 1);
    for (const place of taken) if (load.has(place)) load.set(place, (load.get(place) as number) + 1);
    const [first] = [...load].sort(([, one], [, other]) => one - other);
    return first?.[0] ?? 'host';
  }

  #spawnPlace(id: string): PlaceRecord {
    const { seat, spawned, api } = this.#spawn(id);
    const place = this.#addPlace(id, seat, spawned.line, api, spawned);
    this.#watchExit(place, spawned);
    return place;
  }

  #spawn(id: string): { seat: Seat; spawned: Spawned; api: Port } {
    const { spawner, options, workerOptions } = this.#deps;
    const seat = new Seat(this.#nextSeat++);
    const boot: PlaceBoot = {
      id,
      seat: seat.number,
      ...seat.memories,
      table: this.#table.snapshot(),
      broadcastToSender: options.broadcastToSender,
    };
    const [api, theirs] = spawner.channel();
    const port = spawner.transferable(theirs);
    const spawned = spawner.spawn(id, { role: 'place', boot, workerOptions, api: port }, [port]);
    return { seat, spawned, api };
  }

  #addPlace(id: string, seat: Seat, line: Port, api: Port, spawned: Spawned | undefined): PlaceRecord {
    const place: PlaceRecord = {
      id,
      seat,
      line,
      caller: this.#caller(id, api),
      spawned,
      isUp: true,
      ending: undefined,
      linked: new Set(),
    };
    this.#places.set(id, place);
    this.#seats.set(seat.number, seat);
    line.onMessage((message) => this.#hear(place, seat, message as PlaceMessage));
    if (spawned !== undefined) this.#watchdog.watch(id);
    return place;
  }

  #caller(id: string, api: Port): Caller<PlaceHost> {
    return new Caller<PlaceHost>(api, { clock: this.#deps.seams.clock, timeoutMs: CALL_TIMEOUT_MS, name: id });
  }

  #connectAll(): void {
    const places = [...this.#places.values()];
    for (const [at, place] of places.entries()) {
      for (const other of places.slice(at + 1)) this.#connect(place, other, undefined);
    }
  }

  /** Joins two places; `death` is that of the first one's former thread. */
  #connect(place: PlaceRecord, other: PlaceRecord, death: (ControlMessage & { t: 'link' })['death']): void {
    const { spawner } = this.#deps;
    const [here, there] = spawner.channel();
    const credit = newCreditMemory();
    const ports = [spawner.transferable(here), spawner.transferable(there)] as const;
    this.#tell(
      place,
      { t: 'link', place: other.id, seat: other.seat.number, port: ports[0], credit, side: 0, death: undefined },
      [ports[0]],
    );
    this.#tell(
      other,
      { t: 'link', place: place.id, seat: place.seat.number, port: ports[1], credit, side: 1, death },
      [ports[1]],
    );
  }

  #tell(place: PlaceRecord, message: ControlMessage, transfer?: readonly unknown[]): void {
    place.line.post(message, transfer);
  }

  #hear(place: PlaceRecord, seat: Seat, message: PlaceMessage): void {
    switch (message.t) {
      case 'flow-slab':
        seat.addFlowSlab(message.index, message.memory);
        return;
      case 'name-slab':
        seat.addNameSlab(message.memory);
        return;
      case 'kept':
        for (const { seat: of, flow, mail } of message.kept) seat.keep(of, flow, mail);
        return;
      case 'dead-letters':
        for (const letter of message.letters) this.#letters.add(letter);
        return;
      case 'received-all':
        return;
      case 'hosted':
        this.#hosted.get(message.ref)?.(message.error === undefined ? undefined : errorFromData(message.error));
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
          this.#firstStartEnded(id);
        });
        return;
      case 'exited':
        this.#lifeOf(message.slot, (id) => this.#supervisor.exited(id));
        return;
      case 'ended':
        this.#ended.get(message.slot)?.();
        this.#ended.delete(message.slot);
        return;
      case 'events':
        if (this.#inspected) this.#tell(this.#place('host'), { t: 'events', events: message.events });
        return;
      default:
        throw invalidOptions(`message of ${place.id}`, message, 'a place message');
    }
  }

  #lifeOf(slot: number, tell: (id: string) => void): void {
    const agent = this.#bySlot[slot];
    if (agent !== undefined && !this.#isStopping) tell(agent.id);
  }

  // Death and succession

  #end(place: PlaceRecord, reason: string, isCharged: boolean): void {
    if (place.spawned === undefined || place.ending !== undefined) return;
    place.ending = { reason, isCharged };
    this.#watchdog.unwatch(place.id);
    void place.spawned.terminate();
  }

  #watchExit(place: PlaceRecord, spawned: Spawned): void {
    spawned.onExit((reason) => {
      if (!this.#isStopping && place.spawned === spawned) void this.#succeed(place, reason);
    });
  }

  readonly #upWaiters = new Map<PlaceRecord, (() => void)[]>();

  #whenUp(place: PlaceRecord, run: () => void): void {
    const waiters = this.#upWaiters.get(place) ?? [];
    waiters.push(run);
    this.#upWaiters.set(place, waiters);
  }

  /** A place's thread is gone: a new one takes its agents over, and everything that was under way is accounted for. */
  async #succeed(place: PlaceRecord, exitReason: string): Promise<void> {
    const ending = place.ending ?? { reason: exitReason, isCharged: true };
    const dead = place.seat;
    place.isUp = false;
    place.ending = undefined;
    this.#watchdog.unwatch(place.id);
    place.caller.cut(threadDied(place.id, place.id));
    this.#note(this.#event('place-died', { place: place.id, reason: ending.reason }));
    this.#bury(dead);
    const agents = [...this.#agents.values()].filter((agent) => agent.place === place.id);
    const culprits = this.#culprits(dead, agents, ending.isCharged);
    const charge = ending.isCharged ? dead.inHand?.charge : undefined;
    const { seat, spawned, api } = this.#spawn(place.id);
    Object.assign(place, { seat, spawned, line: spawned.line, caller: this.#caller(place.id, api) });
    this.#seats.set(seat.number, seat);
    place.line.onMessage((message) => this.#hear(place, seat, message as PlaceMessage));
    this.#watchExit(place, spawned);
    await this.#host(place, agents);
    if (place.spawned !== spawned) return;
    this.#watchdog.watch(place.id);
    if (this.#inspected) this.#tell(place, { t: 'inspect', isOn: true });
    const death = { reason: ending.reason, charge };
    for (const other of this.#places.values()) if (other !== place) this.#connect(place, other, death);
    const replays = this.#replays(place, dead, death);
    if (replays.length > 0) this.#tell(place, { t: 'replay', replays });
    this.#pruneDeadSeats();
    place.isUp = true;
    this.#note(this.#event('place-started', { place: place.id }));
    this.#supervisor.crashedTogether(
      agents.map(({ id }) => ({ agentId: id, reason: ending.reason, charged: culprits.has(id) })),
    );
    for (const { id } of agents) this.#firstStartEnded(id);
    for (const run of this.#upWaiters.get(place)?.splice(0) ?? []) run();
  }

  async #host(place: PlaceRecord, agents: readonly AgentRecord[]): Promise<void> {
    const delta = { version: this.#version, profiles: [], upsert: [], remove: [] };
    const modules = new Map<string, AgentRecord[]>();
    for (const agent of agents) {
      const others = modules.get(agent.module);
      if (others === undefined) modules.set(agent.module, [agent]);
      else others.push(agent);
    }
    const hosting = [...modules.values()].map(async (alike) => {
      try {
        await this.#hostAt(place, alike, delta);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        for (const { id } of alike) this.#note(this.#event('error', { agentId: id, errorCode: 'MODULE_INVALID', reason }));
      }
    });
    await Promise.all(hosting);
  }

  /** Whom the death is charged to: the agent whose code ran, or else everybody who had something in hand. */
  #culprits(dead: Seat, agents: readonly AgentRecord[], isCharged: boolean): ReadonlySet<string> {
    if (!isCharged) return new Set();
    const { inHand } = dead;
    const current = inHand === undefined ? undefined : this.#bySlot[inHand.slot];
    const suspects = current === undefined ? agents.filter(({ slot }) => this.#hasInHand(slot)) : [current];
    for (const suspect of suspects) suspect.offences += 1;
    return new Set(suspects.map(({ id }) => id));
  }

  #hasInHand(slot: number): boolean {
    for (const seat of this.#allSeats()) if (seat.hasStarted(slot)) return true;
    return false;
  }

  #replays(place: PlaceRecord, dead: Seat, { reason, charge }: { reason: string; charge: Charge | undefined }): Replay[] {
    const replays: Replay[] = [];
    const names = dead.names();
    const idOf = (slot: number): string | undefined => this.#bySlot[slot]?.id;
    for (const seat of this.#deadSeats.values()) {
      for (const { flow, slot } of seat.unsettledFlows()) {
        const agent = this.#bySlot[slot];
        if (agent === undefined || agent.place !== place.id) continue;
        const context = { agentId: agent.id, reason, charge, idOf };
        const replay = replayOf(seat, flow, dead, names, context);
        if (replay !== undefined) replays.push(replay);
      }
    }
    return replays;
  }

  #bury(seat: Seat): void {
    this.#seats.delete(seat.number);
    this.#deadSeats.set(seat.number, seat);
    const { commitLog, counters } = seat.memories;
    finishCommit(commitLog, new Float64Array(counters), (of, flow) =>
      (this.#seats.get(of) ?? this.#deadSeats.get(of))?.flow(flow),
    );
    new Float64Array(seat.memories.counters).forEach((value, at) => {
      this.#past[at] = (this.#past[at] as number) + value;
    });
  }

  #pruneDeadSeats(): void {
    for (const [number, seat] of this.#deadSeats) if (seat.isSettled) this.#deadSeats.delete(number);
  }

  *#allSeats(): Iterable<Seat> {
    yield* this.#seats.values();
    yield* this.#deadSeats.values();
  }

  #trimKept(): void {
    const flowOf = (seat: number, flow: number) =>
      (this.#seats.get(seat) ?? this.#deadSeats.get(seat))?.flow(flow);
    for (const seat of this.#seats.values()) seat.trim(flowOf);
    this.#stopTrim = this.#deps.seams.clock.setTimer(TRIM_MS, () => this.#trimKept());
  }

  // What is seen

  #note(event: SystemEvent): void {
    const placed = { place: 'control', ...event };
    this.#events.push(placed);
    if (this.#inspected) this.#tell(this.#place('host'), { t: 'events', events: [placed] });
  }

  #event(type: SystemEvent['type'], facts: Partial<SystemEvent>): SystemEvent {
    return { type, timestamp: this.#deps.seams.clock.now(), ...facts };
  }

  async #isIdle(): Promise<boolean> {
    const stats = await this.#askAll((place) => place.caller.api.stats());
    return stats.every((one) => one.isIdle);
  }

  /** What every place answers in time; a blocked or dying one is left out. */
  async #askAll<Answer>(
    ask: (place: PlaceRecord) => Promise<Answer>,
    timeoutMs: number = QUERY_TIMEOUT_MS,
  ): Promise<Answer[]> {
    const { clock } = this.#deps.seams;
    const answers = await Promise.all(
      [...this.#places.values()].map(
        (place) =>
          new Promise<Answer | undefined>((resolve) => {
            const cancel = clock.setTimer(timeoutMs, () => resolve(undefined));
            ask(place).then(resolve, () => resolve(undefined)).finally(cancel);
          }),
      ),
    );
    return answers.filter((answer) => answer !== undefined) as Answer[];
  }
}
