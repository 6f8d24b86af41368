import type { CpuPoolOptions } from '../actor/offload.ts';
import { DeadLetterBook } from '../mailbox/dead-letter-book.ts';
import { conservationOf, isAllSettled } from '../observe/conservation.ts';
import { inOrderOfTalk } from '../observe/order-of-talk.ts';
import { EventRing } from '../observe/event-ring.ts';
import type { SystemEvent } from '../observe/system-event.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { invalidOptions, isOrreryError, moduleInvalid } from '../protocol/errors.ts';
import type { RoutingConfig } from '../protocol/routing-config.ts';
import type { Seams } from '../protocol/seams.ts';
import type { AgentProfile, TableDelta } from '../routing/routing-table.ts';
import { Supervisor } from '../supervision/supervisor.ts';
import type { SupervisorOptions } from '../supervision/supervisor-options.ts';
import type { WatchdogOptions } from '../supervision/watchdog.ts';
import type { Conservation, DeadLetter, RosterRow } from '../system/system.ts';
import { AgentBook, type AgentRecord } from './agent-book.ts';
import { Hosting } from './hosting.ts';
import type { PlaceMessage } from './lines.ts';
import type { LoadedAgent } from './place-host.ts';
import { type PlaceRecord, Places } from './places.ts';
import type { Port } from './port.ts';
import type { Seat, SeatMemories } from './seat.ts';
import { SeatBook } from './seat-book.ts';
import type { Spawner } from './spawner.ts';
import { Succession } from './succession.ts';

const IDLE_POLL_MS = 10;
const SHUTDOWN_MS = 3_000;
const BEAT_MS = 100;
const EVENTS_KEPT = 1_024;
/** How often the counts are taken again while envelopes move between two of them. */
const COUNTINGS = 10;

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

/**
 * The thread that decides: supervisor, watchdog, registry authority and timers live here, so that a blocked embedder or
 * a looping worker stops nothing. It runs no agent's code.
 */
export class Control {
  readonly #deps: ControlDeps;
  readonly #supervisor: Supervisor;
  readonly #seats = new SeatBook();
  readonly #places: Places;
  readonly #agents = new AgentBook();
  readonly #hosting: Hosting;
  readonly #succession: Succession;
  readonly #events = new EventRing<SystemEvent>(EVENTS_KEPT);
  readonly #letters = new DeadLetterBook();
  readonly #firstStarts = new Map<string, () => void>();
  readonly #ended = new Map<number, () => void>();
  readonly #beat: Int32Array;
  #config: RoutingConfig | undefined;
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
      table: () => this.#agents.snapshot(),
      onMessage: (seat, message) => this.#hear(seat, message),
      onDeath: (place, dead, ending) => this.#succession.begin(place, dead, ending),
      note: (type, facts) => this.#note(this.#event(type, facts)),
    });
    this.#hosting = new Hosting(seams.clock, this.#places);
    this.#succession = new Succession({
      agents: this.#agents,
      places: this.#places,
      seats: this.#seats,
      hosting: this.#hosting,
      supervisor: this.#supervisor,
      current: () => ({ isInspected: this.#inspected, config: this.#config }),
      onUp: ({ id }) => this.#note(this.#event('place-started', { place: id })),
      onReported: (crashes) => {
        this.#endStopped(crashes.map(({ agentId }) => agentId));
        for (const { agentId, charged } of crashes) if (charged) this.#firstStartEnded(agentId);
      },
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
      records.push(...this.#register(order, agent, place, this.#agents.nextSlot + records.length));
    }
    const ids = new Set<string>();
    for (const { id } of records) {
      if (this.#agents.has(id) || ids.has(id))
        throw invalidOptions('agents', id, 'an id that no other agent has');
      ids.add(id);
    }
    const restartOf = new Map(loaded.map(({ agent }) => [agent.card, agent.restart]));
    for (const { id, profile } of records) {
      this.#supervisor.add(id, { restart: restartOf.get(profile.card) ?? 'permanent' });
    }
    const delta = this.#agents.add(records);
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
    const delta = this.#agents.write({ profiles: [], upsert: [], remove: records.map(({ id }) => id) });
    this.#places.tellAll({ t: 'table', delta });
  }

  /** Orders a write of the host's registry among all others and tells every thread. */
  async announce({ profiles, upsert, remove }: TableDelta): Promise<void> {
    for (const id of remove) if (this.#agents.has(id)) await this.stopAgent(id);
    for (const id of remove) this.#forget(id);
    for (const { id, profile } of upsert) {
      const agent = this.#agents.find(id);
      if (agent !== undefined) agent.profile = profiles[profile] as AgentProfile;
    }
    this.#places.tellAll({ t: 'table', delta: this.#agents.write({ profiles, upsert, remove }) });
  }

  #forget(id: string): void {
    if (this.#agents.forget(id)) this.#supervisor.remove(id);
  }

  roster(): RosterRow[] {
    this.#places.readArrived();
    const waiting = this.#seats.waiting();
    return [...this.#agents].map((agent) => {
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

  /** Starts a stopped or failed agent again; resolves when it has been started once. */
  async restart(id: string): Promise<void> {
    this.#agents.get(id).gaveUp = undefined;
    const { status } = this.#supervisor.status(id);
    const isThere = status === 'starting' || status === 'running';
    const started = new Promise<void>((resolve) => {
      if (isThere) resolve();
      else this.#firstStarts.set(id, resolve);
    });
    this.#supervisor.restart(id);
    await started;
  }

  /** Ends one agent; resolves when it is gone. */
  async stopAgent(id: string): Promise<void> {
    const { slot } = this.#agents.get(id);
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

  /** Resolves when every thread that answers judges by it. */
  async configure(config: RoutingConfig): Promise<void> {
    this.#config = { ...this.#config, ...config };
    await this.#places.askAll((api) => api.configure(config));
  }

  /** Resolves when every thread that answers streams its events, or has stopped to. */
  async inspect(isOn: boolean): Promise<void> {
    this.#inspected = isOn;
    await this.#places.askAll((api) => api.inspect(isOn));
  }

  async recentEvents(): Promise<readonly SystemEvent[]> {
    const lists = await this.#places.askAll((api) => api.recentEvents());
    return [...this.#events.toArray(), ...lists.flat()].sort((one, other) => one.timestamp - other.timestamp);
  }

  async thread(correlationId: string): Promise<readonly A2AEnvelope[]> {
    const envelopes = (await this.#places.askAll((api) => api.thread(correlationId))).flat();
    const known = new Map(envelopes.map((envelope) => [envelope.id, envelope]));
    return inOrderOfTalk([...known.values()]);
  }

  deadLetters(): readonly DeadLetter[] {
    return this.#letters.toArray();
  }

  /** Asked again while envelopes move between the counts of two threads. */
  async conservation(): Promise<Conservation> {
    for (let attempt = 1; ; attempt++) {
      const before = this.counts();
      const stats = await this.#places.askAll((api) => api.stats());
      const isComplete = stats.length >= [...this.#places].filter(({ isUp }) => isUp).length;
      // Nobody has in hand yet what waits for a thread that is not up.
      const homeless = this.#seats.orphaned((slot) => this.#placeOf(slot)?.isUp === false);
      const inFlight = stats.reduce((sum, one) => sum + one.inFlight, homeless);
      const { isExact, ...account } = conservationOf(before, this.counts(), inFlight);
      if (isExact && isComplete) return account;
      if (attempt >= COUNTINGS) return { ...account, holds: account.holds && isComplete };
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
    this.#supervisor.close();
    this.#places.beginClosing();
    await this.#places.askAll((api) => api.shutdown(), SHUTDOWN_MS);
    await this.#places.close();
    this.#stopBeat();
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

  async #hostAll(records: readonly AgentRecord[], delta: TableDelta): Promise<void> {
    const byPlace = Map.groupBy(records, ({ place }) => place);
    await Promise.all(
      [...byPlace].map(async ([id, here]) => {
        try {
          await this.#hosting.host(this.#places.get(id), here, { delta, isAgain: false });
        } catch (error) {
          throw unloadable(here.map(({ module }) => module).join(), error);
        }
      }),
    );
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
      const { place, slot } = this.#agents.get(id);
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
    const stopped = ids.filter(
      (id) => this.#agents.has(id) && this.#supervisor.status(id).status === 'stopped',
    );
    if (stopped.length > 0) this.#order('stop', stopped);
  }

  #gaveUp(id: string, reason: string): void {
    const agent = this.#agents.get(id);
    const place = this.#places.get(agent.place);
    agent.gaveUp = reason;
    this.#places.whenUp(place, () => this.#places.tell(place, { t: 'give-up', slot: agent.slot, reason }));
    this.#firstStartEnded(id);
  }

  #firstStartEnded(id: string): void {
    this.#firstStarts.get(id)?.();
    this.#firstStarts.delete(id);
  }

  #placeOf(slot: number): PlaceRecord | undefined {
    const agent = this.#agents.inSlot(slot);
    return agent === undefined ? undefined : this.#places.get(agent.place);
  }

  #leastLoaded(taken: readonly string[]): string {
    const workers = [...this.#places].map(({ id }) => id).filter((id) => id.startsWith('worker-'));
    return this.#agents.leastLoaded(workers, taken) ?? 'host';
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
        this.#succession.receivedAll(seat, message);
        return;
      case 'hosted':
        this.#hosting.answered(message.ref, message.error);
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
        if (this.#inspected)
          this.#places.tell(this.#places.get('host'), { t: 'events', events: message.events });
        return;
      default:
        throw invalidOptions(`message of seat ${seat.number}`, message, 'a place message');
    }
  }

  #lifeOf(slot: number, tell: (id: string) => void): void {
    const agent = this.#agents.inSlot(slot);
    if (agent !== undefined && !this.#isStopping) tell(agent.id);
  }

  #hasEnded(slot: number): void {
    this.#ended.get(slot)?.();
    this.#ended.delete(slot);
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
  return moduleInvalid(
    module,
    `loading it failed: ${error instanceof Error ? error.message : String(error)}`,
    error,
  );
}
