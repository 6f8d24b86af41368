import type { MachineDrawing } from '../protocol/machine-drawing.ts';
import { type AgentDefinition, defineAgent } from '../agent/agent-definition.ts';
import type { AgentClient } from '../cell/interceptor.ts';
import { callOutside } from '../agent/call-outside.ts';
import type { Cell } from '../cell/cell.ts';
import type { Sender } from '../agent/context.ts';
import type { Identity } from '../cell/mail-maker.ts';
import { newAccountMemory } from '../budget/account-memory.ts';
import { fromEnvelope } from '../mailbox/mail.ts';
import { EventOrder } from '../protocol/event-order.ts';
import type { LogLine } from '../observe/logger.ts';
import { lastEvents } from '../observe/observability.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import { bindMethods } from '../protocol/bind-methods.ts';
import type { Budget } from '../protocol/budget.ts';
import { A2A_MESSAGE_TYPES, type A2AEnvelope, parseEnvelope } from '../protocol/envelope.ts';
import {
  agentNotFound,
  controlLost,
  invalidOptions,
  OrreryError,
  systemStopped,
} from '../protocol/errors.ts';
import { HOST_ID, LOOP_ID, systemParty, verdictOf } from '../protocol/policy.ts';
import type { Clock } from '../protocol/seams.ts';
import { parseOptions, requireFunction, requireText } from '../protocol/parse-options.ts';
import { RoutingConfig } from '../protocol/routing-config.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';
import { refusedResult } from '../routing/mail-judge.ts';
import { newAgentStatusMemory } from '../routing/agent-status-memory.ts';
import { AgentRegistry } from '../routing/agent-registry.ts';
import { NO_CHANGE } from '../routing/routing-table.ts';
import { Connection } from '../link/connection.ts';
import type { ControlBoot, ControlCalls, WrongStart } from '../control/control-calls.ts';
import type { NodeReport } from '../thread/control-protocol.ts';
import { nodeEventLoop } from '../protocol/system-seams.ts';
import { ThreadHost } from '../thread/thread-host.ts';
import type { ThreadNode } from '../thread/thread-node.ts';
import { newThreadMemories } from '../control/thread-incarnation.ts';
import { footingOf, type Spawned } from '../link/spawner.ts';
import { type Account, openAccount } from './account.ts';
import { GivenAgents } from './given-agents.ts';
import { ControlWatch, newControlBeat } from './control-watch.ts';
import { type EmbedderSenderDeps, embedderSender, faultOf, jsonFaultOf } from './embedder-sender.ts';
import { checkReceiver, parseLimit } from './given-sends.ts';
import { type JournalRecords, journalRecords } from './journal-records.ts';
import { LoopMail } from './loop-mail.ts';
import { OwnMailbox } from './own-mailbox.ts';
import { Peers, type PeersDeps } from './peers.ts';
import { OwnPeers } from './system-peers.ts';
import { HostChannels } from './system-channels.ts';
import type { SystemDeps } from './system-deps.ts';
import { Stop, type StopWork, type SystemWithStopWork } from './stop-work.ts';
import type { LoopSender } from './system.ts';
import type { PeerLimits } from './peer-options.ts';
import type { Conservation } from '../protocol/conservation.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import { InspectOptions } from '../protocol/inspect-options.ts';
import { RosterOptions, type RosterRow } from '../protocol/roster.ts';
import { type AgentSpec, parseAgent, parseSystemOptions, type SystemOptions } from './system-options.ts';
import { type Upgrading, upgrading } from './upgrading.ts';

/**
 * Starts a system: the control thread, the workers, and the agents. Resolves when every agent has been started once.
 *
 * Fails with INVALID_OPTIONS or MODULE_INVALID; then nothing of it is left.
 */
export async function createSystem(
  deps: SystemDeps,
  options: SystemOptions = {},
): Promise<SystemWithStopWork> {
  const parsed = parseSystemOptions(options);
  const system = new RunningSystem(deps, parsed);
  try {
    await system.boot();
    if (parsed.peers !== undefined) await system.peers.open(parsed.peers);
    await system.startTeam(parsed.agents);
    return membersOf(system);
  } catch (error) {
    await system.stop({ drainMs: 0 });
    throw error;
  }
}

/** A system as an object whose members are its own: whoever has more to offer makes a whole object of these and that. */
function membersOf(system: RunningSystem): SystemWithStopWork {
  const { ask, stream, tell, tellWhenRoom, send, onReceive, client, openAccount, loop } = system;
  const { registry, peers, channels, records, start, stopAgent, restart, terminate, configure, whenKept } =
    system;
  const { upgrade, upgradeAll, rollingRestart, resume } = system;
  const { roster, machines, recentEvents, inspect, thread, deadLetters, conservation, metrics } = system;
  const { beforeStop, stop } = system;
  return {
    ...{ ask, stream, tell, tellWhenRoom, send, onReceive, client, openAccount, loop },
    ...{ registry, peers, channels, records, start, stopAgent, restart, terminate, configure, whenKept },
    ...{ upgrade, upgradeAll, rollingRestart, resume },
    ...{ roster, machines, recentEvents, inspect, thread, deadLetters, conservation, metrics },
    ...{ beforeStop, stop, [Symbol.asyncDispose]: () => stop() },
  };
}

/** A system seen from the thread that embeds it. */
class RunningSystem implements Omit<SystemWithStopWork, typeof Symbol.asyncDispose> {
  readonly registry: AgentRegistry;
  readonly channels: HostChannels;
  readonly records: JournalRecords;
  readonly ask: Sender['ask'];
  readonly stream: Sender['stream'];
  readonly tell: Sender['tell'];
  readonly tellWhenRoom: Sender['tellWhenRoom'];
  readonly upgrade: Upgrading['upgrade'];
  readonly upgradeAll: Upgrading['upgradeAll'];
  readonly rollingRestart: Upgrading['rollingRestart'];
  readonly resume: Upgrading['resume'];
  readonly loop: LoopSender;
  readonly #host: ThreadHost;
  readonly #node: ThreadNode;
  readonly #control: Spawned;
  readonly #watch: ControlWatch;
  readonly #connection: Connection<ControlCalls, NodeReport>;
  readonly #given = new GivenAgents();
  readonly #listeners = new Set<Listening>();
  readonly #identity: Identity = { id: HOST_ID, slot: -1, party: systemParty(HOST_ID) };
  readonly #sending: EmbedderSenderDeps;
  readonly #clock: Clock;
  #end: OrreryError | undefined;
  readonly #stop = new Stop((drainMs) => this.#endAll(drainMs));
  readonly #hasJournal: boolean;
  readonly #writer: ((line: LogLine) => void) | undefined;
  readonly #mailbox: OwnMailbox;
  readonly #loopMailbox: OwnMailbox;
  readonly #loopMail: LoopMail;
  readonly peers: OwnPeers;
  readonly #lookups: Peers | undefined;

  static {
    bindMethods(RunningSystem.prototype);
  }

  constructor(deps: SystemDeps, options: ReturnType<typeof parseSystemOptions>) {
    const {
      seams,
      spawner,
      policies,
      workerOptions,
      interceptors = [],
      loop = nodeEventLoop(),
      onHost,
    } = deps;
    this.#clock = seams.clock;
    this.#hasJournal = options.journal !== undefined;
    const { logger } = options;
    this.#writer = logger && (({ level, fields, message }) => logger[level](fields, message));
    const hostIncarnation = newThreadMemories();
    const accounts = newAccountMemory();
    const agentStatus = newAgentStatusMemory();
    const { workers, broadcastToSender, spareThread, supervision, watchdog, starting, cpu, journal, events } =
      options;
    const peers = options.peers && { missMs: options.peers.missMs };
    const ofThreads = { broadcastToSender, watchdog, starting, cpu, events, peers };
    const boot: ControlBoot = {
      role: 'control',
      options: {
        ...ofThreads,
        isLogged: options.logger !== undefined,
        workers,
        spareThread,
        supervision,
        journal,
      },
      workerOptions,
      hostIncarnation,
      accounts,
      agentStatus,
      beat: newControlBeat(),
    };
    if (deps.control === undefined) this.#control = spawner.spawn('orrery-control', boot, []);
    else {
      this.#control = deps.control;
      this.#control.port.post(boot);
    }
    this.#watch = new ControlWatch(
      boot.beat,
      {
        clock: seams.clock,
        footing: () => footingOf(this.#control),
        onLost: (error) => {
          this.#close(error);
          void this.#control.terminate();
        },
      },
      starting,
    );
    this.#control.onExit((reason) => this.#close(controlLost(reason)));
    // The watch says when nobody answers any more.
    this.#connection = new Connection(this.#control.port);
    const ofHost = {
      ...hostIncarnation,
      accounts,
      agentStatus,
      id: 'host',
      incarnation: 0,
      table: EMPTY_TABLE,
    };
    this.#host = new ThreadHost(
      { ...ofHost, ...ofThreads },
      {
        ...{ seams, loop, control: this.#connection, rings: deps.rings },
        received: (port) => spawner.received(port),
        embedder: {
          show: (events) => this.#publish(events),
          log: (line) => this.#writeLine(line),
          lookUp: async (query) => this.#lookups?.find(query),
        },
      },
      { policies, interceptors, inline: this.#given.live },
    );
    onHost?.(this.#host);
    this.#node = this.#host.node;
    this.#sending = { mailSender: this.#node.mailSender, endOf: () => this.#end };
    const sender = embedderSender(this.#sending, this.#identity);
    this.ask = sender.ask;
    this.stream = sender.stream;
    this.tell = sender.tell;
    this.tellWhenRoom = sender.tellWhenRoom;
    const mailbox = {
      isDurable: this.#hasJournal,
      host: (agent: AgentDefinition, card: AgentCard) => this.#clientUnder(agent, card),
    };
    this.#mailbox = new OwnMailbox(HOST_ID, mailbox);
    this.#loopMailbox = new OwnMailbox(LOOP_ID, mailbox);
    this.#loopMail = new LoopMail(this.#loopMailbox);
    this.loop = {
      ...embedderSender(this.#sending, { id: LOOP_ID, slot: -1, party: systemParty(LOOP_ID) }),
      client: () => this.#loopMailbox.open(),
    };
    this.registry = new AgentRegistry({
      table: this.#node.table,
      onChange: (delta) => void this.#connection.api.announce(delta).catch(() => undefined),
    });
    this.peers = new OwnPeers(this.#connection.api);
    const { lookup } = options.peers ?? {};
    this.#lookups = lookup && this.#lookupsBy({ ...(options.peers as PeerLimits), lookup }, seams.clock);
    this.records = journalRecords({
      journal: () => this.#node.journal,
      end: () => this.#end,
      isInTeam: (id) => this.#node.table.get(id) !== undefined,
    });
    this.channels = new HostChannels({
      node: this.#node,
      hostId: HOST_ID,
      openMailbox: () => this.client(),
      end: () => this.#end,
    });
    const code = upgrading(this.#connection.api, this.#given);
    this.upgrade = code.upgrade;
    this.upgradeAll = code.upgradeAll;
    this.rollingRestart = code.rollingRestart;
    this.resume = code.resume;
  }

  boot(): Promise<void> {
    return this.#connection.api.boot();
  }

  /** As `startTeam`; none is left of those whose options are wrong. */
  async start(agents: readonly (AgentSpec | ReturnType<typeof parseAgent>)[]): Promise<void> {
    await this.startTeam(agents, async (remove) => {
      await this.#connection.api.announce({ ...EMPTY_TABLE, remove });
    });
  }

  /** `withdraw` forgets those whose options are wrong, before this rejects with what is wrong about them. */
  async startTeam(
    agents: readonly (AgentSpec | ReturnType<typeof parseAgent>)[],
    withdraw?: (agentIds: readonly string[]) => Promise<void>,
  ): Promise<void> {
    if (!Array.isArray(agents)) throw invalidOptions('agents', agents, 'a list of agents');
    // What former processes left for the embedder and its loop is there before anybody writes to them.
    if (this.#hasJournal) {
      await this.client();
      await this.loop.client();
    }
    const orders = agents.map((spec, at) => this.#given.orderOf(parseAgent(spec as AgentSpec, at)));
    const wrong = await this.#connection.api.start(orders);
    const [first] = wrong;
    if (first === undefined) return;
    await withdraw?.(wrong.map(({ agentId }) => agentId));
    throw wrongStart(first);
  }

  /** Has an agent live in this thread under a card of its embedder's. */
  async #startUnder(agent: AgentDefinition<unknown> | AgentDefinition, card: AgentCard): Promise<void> {
    await this.#connection.api.start([{ ...this.#given.orderOf(agent), card }]);
  }

  /** As `#startUnder`; resolves to where interceptors act for it. */
  async #clientUnder(agent: AgentDefinition, card: AgentCard): Promise<AgentClient> {
    await this.#startUnder(agent, card);
    const slot = this.#node.table.get(card.id)?.slot ?? -1;
    return (this.#node.cellOf(slot) as Cell).client;
  }

  openAccount(budget: Budget): Account {
    if (this.#end !== undefined) throw this.#end;
    return openAccount(this.#node.accounts, budget, this.#sending, this.#identity);
  }

  async send(envelope: A2AEnvelope): Promise<RoutingResult> {
    let parsed: A2AEnvelope;
    try {
      parsed = parseEnvelope(envelope);
    } catch (error) {
      const { recipient } = (envelope ?? {}) as { recipient?: unknown };
      return refusedResult(typeof recipient === 'string' ? recipient : '', verdictOf(error as OrreryError));
    }
    const fault =
      this.#end ?? faultOf(parsed.recipient, parsed.payload) ?? jsonFaultOf('metadata', parsed.metadata);
    if (fault !== undefined) return refusedResult(parsed.recipient, verdictOf(fault));
    const party = this.#node.judge.registeredParty(parsed.sender);
    if (party === undefined) return refusedResult(parsed.recipient, verdictOf(agentNotFound(parsed.sender)));
    const from = { id: parsed.sender, slot: this.#node.table.get(parsed.sender)?.slot ?? -1, party };
    return this.#node.mailSender.sendWhenFound(from, fromEnvelope(parsed));
  }

  async onReceive(
    agentId: string,
    handler: (envelope: A2AEnvelope) => unknown,
  ): Promise<() => Promise<void>> {
    checkReceiver(agentId, handler);
    if (agentId === LOOP_ID) return this.#loopMail.receive(handler);
    const card = this.registry.getById(agentId);
    if (card === undefined) throw agentNotFound(agentId);
    const { name, version, description, tier } = card;
    // Who it is says the card: the registry takes ids that no agent of a module may have.
    const definition = defineAgent({ id: 'receiver', name, version, description, tier });
    for (const type of A2A_MESSAGE_TYPES) definition.on(type, handler);
    await this.#startUnder(definition, card);
    return () => this.stopAgent(agentId);
  }

  client(): Promise<AgentClient> {
    return this.#mailbox.open();
  }

  async configure(config: RoutingConfig): Promise<void> {
    const parsed = parseOptions(RoutingConfig, config, 'config');
    if (parsed.sandbox !== undefined) this.registry.setSandboxConfig(parsed.sandbox);
    await this.#connection.api.configure(parsed);
  }

  async roster(options: RosterOptions = {}): Promise<readonly RosterRow[]> {
    const { actors } = parseOptions(RosterOptions, options, 'options');
    return this.#connection.api.roster(actors);
  }

  machines(): Promise<readonly MachineDrawing[]> {
    return this.#connection.api.machines();
  }

  async recentEvents(limit = 1_000): Promise<readonly SystemEvent[]> {
    const most = parseLimit(limit);
    const events = await this.#connection.api.recentEvents(most);
    return lastEvents(events, most);
  }

  async inspect(
    listener: (event: SystemEvent) => void,
    options: InspectOptions = {},
  ): Promise<() => Promise<void>> {
    requireFunction('listener', listener);
    const { eventsPerSecond, inOrder } = parseOptions(InspectOptions, options, 'options');
    const order = inOrder ? new EventOrder(this.#clock, (event) => callOutside(listener, event)) : undefined;
    const listening: Listening = {
      eventsPerSecond,
      hear: (event) => (order === undefined ? callOutside(listener, event) : order.add(event)),
      end: () => order?.flush(),
    };
    this.#listeners.add(listening);
    await this.#inspect();
    let ended: Promise<void> | undefined;
    return () => {
      ended ??= this.#endListening(listening);
      return ended;
    };
  }

  async #endListening(listening: Listening): Promise<void> {
    // A control thread that is gone sends no events either.
    await this.#connection.api.tellEvents().catch(() => undefined);
    if (!this.#listeners.delete(listening)) return;
    listening.end();
    await this.#inspect().catch(() => undefined);
  }

  async #inspect(): Promise<void> {
    const limits = [...this.#listeners].map(({ eventsPerSecond }) => eventsPerSecond);
    const most = limits.includes(undefined) ? undefined : Math.max(...limits.map(Number));
    await this.#connection.api.inspect(limits.length > 0, limits.length > 0 ? most : undefined);
  }

  async thread(correlationId: string): Promise<readonly A2AEnvelope[]> {
    requireText('correlationId', correlationId);
    return this.#connection.api.thread(correlationId);
  }

  deadLetters(): Promise<readonly DeadLetter[]> {
    return this.#connection.api.deadLetters();
  }

  conservation(): Promise<Conservation> {
    return this.#connection.api.conservation();
  }

  async metrics(): Promise<string> {
    const { api } = this.#connection;
    const [measures, account, peers] = await Promise.all([
      api.measures(),
      api.conservation(),
      api.peers().catch(() => []),
    ]);
    // Who never looks at the metrics does not load prom-client, in no thread.
    const { metricsText } = await import('../observe/metrics.ts');
    return metricsText({ ...measures, account, peers, nowMs: this.#node.seams.clock.now() });
  }

  async whenKept(): Promise<void> {
    if (this.#end !== undefined) throw this.#end;
    await this.#connection.api.whenKept();
  }

  async stopAgent(agentId: string): Promise<void> {
    requireText('agentId', agentId);
    return this.#connection.api.stopAgent(agentId);
  }

  async restart(agentId: string): Promise<void> {
    requireText('agentId', agentId);
    return this.#connection.api.restart(agentId);
  }

  async terminate(place: string): Promise<void> {
    requireText('place', place);
    return this.#connection.api.terminate(place);
  }

  beforeStop(work: StopWork): () => void {
    return this.#stop.before(work);
  }

  stop(options?: { drainMs?: number }): Promise<void> {
    return this.#stop.begin(options);
  }

  #lookupsBy(options: PeersDeps['options'], clock: PeersDeps['clock']): Peers {
    return new Peers({
      options,
      clock,
      registry: this.registry,
      host: (agent, card) => this.#startUnder(agent, card),
      onProblem: (reason) => {
        if (this.#end === undefined)
          this.#node.log.note({ type: 'error', timestamp: clock.now(), agentId: HOST_ID, reason });
      },
    });
  }

  async #endAll(drainMs: number): Promise<void> {
    if (this.#end === undefined) {
      this.#node.router.drain();
      // A control thread that cannot answer any more is ended all the same.
      await this.#connection.api.stop(drainMs).catch(() => undefined);
      this.#close(systemStopped('it was stopped'));
    }
    await this.#control.terminate();
  }

  #close(error: OrreryError): void {
    if (this.#end !== undefined) return;
    this.#end = error;
    if (error.code !== 'SYSTEM_STOPPED') this.#writeLine(endLine(error));
    this.#watch.close();
    this.#lookups?.close();
    this.#connection.cut(error);
    this.#host.close(error);
    for (const { end } of this.#listeners) end();
    this.#listeners.clear();
  }

  /** A logger that fails ends nothing. */
  #writeLine(line: LogLine): void {
    callOutside(this.#writer, line);
  }

  #publish(events: readonly SystemEvent[]): void {
    for (const event of events) for (const { hear } of this.#listeners) hear(event);
  }
}

/** Who listens: how many events a second it wants of a thread, and what it is to be given when nothing more comes. */
interface Listening {
  readonly eventsPerSecond: number | undefined;
  readonly hear: (event: SystemEvent) => void;
  readonly end: () => void;
}
const endLine = ({ code, message }: OrreryError): LogLine => ({
  level: 'error',
  fields: { event: 'system-ended', errorCode: code },
  message: `system-ended: ${code} ${message}`,
});

/** What is wrong, under the name that the option has for whoever starts the agents. */
const wrongStart = ({ agentId, at, fault: { code, message, details } }: WrongStart): OrreryError => {
  const field = `agents[${at}].${details?.['field'] as string}`;
  return new OrreryError(code, `agents[${at}].${message}`, { details: { ...details, field, agentId } });
};

const EMPTY_TABLE = { version: 0, ...NO_CHANGE };
