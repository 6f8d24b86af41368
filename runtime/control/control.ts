import type { MachineDrawing } from '../protocol/machine-drawing.ts';
import { Accounts } from '../budget/accounts.ts';
import { ControlLog } from '../observe/control-log.ts';
import { LogFeed } from '../observe/log-feed.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { EventReport } from '../observe/event-report.ts';
import type { SystemMeasures } from '../observe/measures.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { type ErrorData, invalidOptions, reasonOf, refused } from '../protocol/errors.ts';
import type { RoutingConfig } from '../protocol/routing-config.ts';
import { AgentStatusMemory } from '../routing/agent-status-memory.ts';
import type { PeerBoot } from '../peers/peer-boot.ts';
import type { PeerOrder } from '../peers/peer-host.ts';
import type { Trust } from '../peers/trust.ts';
import { revoking, trusting } from '../peers/trust-book.ts';
import type { AgentEndpoint } from '../protocol/agent-card.ts';
import type { PeerRow } from '../protocol/peer-row.ts';
import type { RefusedPeer } from '../protocol/refused-peer.ts';
import type { RemoteQuery } from '../routing/remote-lookup.ts';
import { type AgentOffer, offeringProfile } from '../routing/offered-profile.ts';
import { NO_CHANGE, type TableDelta } from '../routing/routing-table.ts';
import type { AgentProfile } from '../protocol/agent-row.ts';
import { Supervisor } from '../supervision/supervisor.ts';
import type { Conservation } from '../protocol/conservation.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import type { RosterRow } from '../protocol/roster.ts';
import { AgentTable, type AgentEntry } from './agent-table.ts';
import { AgentLives } from './agent-lives.ts';
import { AgentProcesses } from './agent-processes.ts';
import { ControlHistory } from './control-history.ts';
import { type AgentOrder, Enrolment, PEERS } from './enrolment.ts';
import type { ControlBoot, ControlCalls, WrongStart } from './control-calls.ts';
import { Hosting, notLoaded, unlessItDies } from './hosting.ts';
import { JournalThread } from '../journal/journal-thread.ts';
import type { NodeReport } from '../thread/control-protocol.ts';
import type { Port } from '../link/port.ts';
import type { Spawner } from '../link/spawner.ts';
import type { Seams } from '../protocol/seams.ts';
import { LostAccounts } from './lost-accounts.ts';
import { MailCounts } from './mail-counts.ts';
import { Overview } from './overview.ts';
import { type ThreadHandle, Threads } from './threads.ts';
import type { ThreadIncarnation } from './thread-incarnation.ts';
import { IncarnationRegistry } from './incarnation-registry.ts';
import { ThreadFailover } from './thread-failover.ts';
import { EventReports } from './event-reports.ts';
import { type Upgraded, type UpgradeOrder, Upgrades } from './upgrades.ts';

/** This thread opens no accounts. */
const NO_ACCOUNT_HOLDER = -1;

/** How long a place that is shut down may do nothing, or compute without a pause. */
const SHUTDOWN = { quietMs: 3_000, computeMs: 1_000 };
const BEAT_MS = 100;

/** What the control thread is made of beside its boot data. */
export interface ControlDeps {
  readonly seams: Seams;
  readonly spawner: Spawner;
  /** The one port between it and the embedder's thread. */
  readonly host: Port;
  /** Is told what happens in this thread. */
  readonly onEvent?: ((event: SystemEvent) => void) | undefined;
}

/**
 * The thread that decides: supervisor, watchdog, registry authority and timers live here, so that a blocked embedder or
 * a looping worker stops nothing. It runs no agent's code.
 */
export class Control implements ControlCalls {
  readonly #seams: Seams;
  readonly #supervisor: Supervisor;
  readonly #incarnations = new IncarnationRegistry();
  readonly #threads: Threads;
  readonly #agents: AgentTable;
  readonly #hosting: Hosting;
  readonly #failover: ThreadFailover;
  readonly #enrolment: Enrolment;
  readonly #upgrades: Upgrades;
  readonly #accounts: Accounts;
  readonly #lostAccounts: LostAccounts;
  readonly #log: ControlLog;
  readonly #logFeed: LogFeed | undefined;
  readonly #eventReports: EventReports;
  readonly #overview: Overview;
  readonly #mailCounts: MailCounts;
  readonly #processes: AgentProcesses;
  readonly #lives: AgentLives;
  readonly #journal: JournalThread | undefined;
  readonly #history: ControlHistory | undefined;
  readonly #beat: Int32Array;
  #isStopping = false;
  /** What the place that speaks with other nodes was told: its next thread is told the same. */
  #peerBoot: PeerBoot | undefined;
  #peerWork: Promise<void> = Promise.resolve();
  #stopBeat: () => void = () => undefined;

  constructor(boot: ControlBoot, { seams, spawner, host, onEvent }: ControlDeps) {
    const { options, accounts, agentStatus } = boot;
    this.#seams = seams;
    this.#beat = new Int32Array(boot.beat);
    this.#agents = new AgentTable(new AgentStatusMemory(agentStatus));
    const { clock } = seams;
    this.#logFeed = options.isLogged
      ? new LogFeed({
          clock,
          give: (line) => this.#threads.tell(this.#threads.get('host'), { t: 'logged', line }),
        })
      : undefined;
    this.#log = new ControlLog({
      clock,
      limits: options.events,
      onEvent: (event) => onEvent?.(event),
      remember: (event) => this.#history?.remember(event),
      show: (event) => {
        this.#show([event]);
        this.#logFeed?.add(event);
      },
      isTold: () => onEvent !== undefined || this.#threads.isInspected,
    });
    this.#eventReports = new EventReports({
      clock,
      isLiving: (incarnation) => this.#incarnations.isLiving(incarnation),
      give: (report) => this.#learn(report),
    });
    this.#supervisor = new Supervisor(
      {
        seams,
        start: (ids) => this.#lives.start(ids),
        stop: (ids) => this.#lives.endAll(ids),
        onEvent: (event) => this.#log.add(event),
        onGaveUp: (id, last) => this.#lives.giveUp(id, last),
        onRefuse: (id, refusal) => this.#lives.refuse(id, refusal),
      },
      options.supervision,
      this.#log.steps,
    );
    this.#journal =
      options.journal &&
      new JournalThread(
        {
          spawner,
          clock,
          accounts,
          starting: options.starting,
          onReport: (report) =>
            report.t === 'failure'
              ? this.#log.note('journal', journalFacts(report.failure))
              : this.#log.note('history', { success: false, reason: report.reason }),
        },
        options.journal,
      );
    this.#history = this.#journal?.keepsHistory === true ? this.#historyIn(this.#journal) : undefined;
    const agents = this.#agents;
    const incarnations = this.#incarnations;
    const journal = this.#journal;
    const log = this.#log;
    const supervisor = this.#supervisor;
    const threads = new Threads({ seams, spawner, incarnations, agents, log, journal }, boot, {
      heard: (incarnation, report) => this.#hear(incarnation, report),
      died: (thread, dead, ending) => {
        this.#eventReports.look();
        this.#processes.endAt(thread.id);
        this.#upgrades.cut(thread);
        this.#failover.begin(thread, dead, ending);
        if (thread.id === PEERS) this.#reopenPeers(thread);
        this.#lostAccounts.threadDied(dead.number);
      },
    });
    this.#threads = threads;
    const lives = new AgentLives({ agents, threads, supervisor });
    this.#lives = lives;
    this.#processes = new AgentProcesses({ agents, threads, lives, spawner, clock, log });
    const hosting = new Hosting(threads);
    this.#hosting = hosting;
    this.#accounts = new Accounts(accounts, NO_ACCOUNT_HOLDER);
    this.#lostAccounts = new LostAccounts({
      accounts: this.#accounts,
      threads,
      clock,
      kept: () => incarnations.heldAccounts(),
    });
    const enrolment = new Enrolment(
      { agents, threads, hosting, supervisor, lives },
      { workers: options.workers, durable: options.journal?.durable },
    );
    this.#enrolment = enrolment;
    this.#upgrades = new Upgrades({ agents, threads, supervisor, enrolment, log });
    this.#overview = new Overview({
      ...{ agents, threads, incarnations, supervisor, log },
      history: this.#history,
    });
    this.#mailCounts = new MailCounts({ clock, agents, threads, incarnations });
    this.#failover = new ThreadFailover({ agents, threads, incarnations, hosting, lives, journal });
    this.#live();
    this.#threads.addHost(this.#incarnations.open(boot.hostIncarnation), host, this);
  }

  /** Worker threads are started when agents come to live in them. */
  async boot(): Promise<void> {
    if (this.#journal === undefined) return;
    this.#log.restoreLetters(await this.#journal.open());
    await this.#processes.endLeft(this.#journal);
    this.#threads.connectJournal(this.#threads.get('host'));
  }

  // The api of the host

  async start(orders: readonly AgentOrder[]): Promise<readonly WrongStart[]> {
    const entries = await this.#enrolment.enrol(orders);
    // What former processes left comes before anything new.
    if (this.#journal !== undefined) await this.#hosting.recover(entries);
    const faults = await this.#lives.startNew(entries);
    this.#threads.prepareSpare();
    // One order may be for several instances.
    const orderOf = orders.flatMap(({ ids }, at) => (ids ?? [undefined]).map(() => at));
    return faults.flatMap((fault, at) =>
      fault === undefined
        ? []
        : [{ agentId: (entries[at] as AgentEntry).id, at: orderOf[at] as number, fault }],
    );
  }

  async announce({ profiles, upsert, remove }: TableDelta): Promise<void> {
    const leaving = new Map(remove.map((id) => [id, this.#agents.find(id)]));
    // While one is being stopped another may come under its id, and stays.
    const isStill = (id: string): boolean => this.#agents.find(id) === leaving.get(id);
    for (const [id, agent] of leaving) if (agent !== undefined && isStill(id)) await this.stopAgent(id);
    const removed = remove.filter(isStill);
    const gone = removed.flatMap((id) => this.#agents.find(id) ?? []);
    for (const { id } of gone) this.#enrolment.forget(id);
    const rows = upsert.map((row) => {
      const agent = this.#agents.find(row.id);
      if (agent === undefined) return row;
      agent.profile = profiles[row.profile] as AgentProfile;
      // Where it lives is not the host's to say, which may not know it yet.
      return { ...row, slot: agent.slot, place: agent.place };
    });
    const delta = this.#agents.write({ profiles, upsert: rows, remove: removed });
    this.#threads.tellAll({ t: 'table', delta });
    this.#lives.forget(gone);
  }

  roster(withActors = false): Promise<RosterRow[]> {
    return withActors ? this.#overview.rosterWithActors() : this.#overview.roster();
  }

  async restart(id: string): Promise<void> {
    this.#agents.get(id).gaveUp = undefined;
    const { status } = this.#supervisor.status(id);
    if (status === 'parked') throw refused(`${id} is parked: resume it`, { agentId: id });
    const isThere = status === 'starting' || status === 'running';
    const started = isThere ? undefined : this.#lives.whenStarted(id);
    this.#supervisor.restart(id);
    await started;
  }

  upgrade(id: string, order: UpgradeOrder): Promise<Upgraded> {
    return this.#upgrades.upgrade(id, order);
  }

  resume(id: string, order: UpgradeOrder): Promise<void> {
    return this.#upgrades.resume(id, order);
  }

  async stopAgent(id: string): Promise<void> {
    await this.#lives.stop(id);
  }

  async terminate(id: string): Promise<void> {
    const process = this.#processes.end(id);
    if (process !== undefined) return process;
    this.#threads.end(id, { reason: 'it was ended from outside', isCharged: false });
    await new Promise<void>((resolve) => this.#threads.whenUp(this.#threads.get(id), resolve));
  }

  configure(config: RoutingConfig): Promise<void> {
    return this.#threads.configure(config);
  }

  inspect(isOn: boolean, eventsPerSecond?: number): Promise<void> {
    return this.#threads.inspect(isOn, eventsPerSecond);
  }

  async tellEvents(): Promise<void> {
    await this.#threads.askAll((api) => api.tellEvents());
    this.#eventReports.look();
    // What it is shown and what it is answered come by two ports, which have no common order.
    await this.#threads.get('host').connection.api.ping();
  }

  machines(): Promise<readonly MachineDrawing[]> {
    return this.#overview.machines();
  }

  recentEvents(limit: number): Promise<readonly SystemEvent[]> {
    this.#eventReports.look();
    return this.#overview.recentEvents(limit);
  }

  thread(correlationId: string): Promise<readonly A2AEnvelope[]> {
    return this.#overview.thread(correlationId);
  }

  deadLetters(): readonly DeadLetter[] {
    this.#eventReports.look();
    return this.#log.deadLetters();
  }

  conservation(): Promise<Conservation> {
    return this.#mailCounts.conservation();
  }

  async measures(): Promise<SystemMeasures> {
    this.#eventReports.look();
    const [seen, journal] = await Promise.all([this.#overview.measures(), this.#journal?.measures()]);
    return { ...seen, openBudgets: this.#accounts.size, journal };
  }

  async stop(drainMs: number): Promise<void> {
    this.#threads.beginDraining();
    await this.#mailCounts.untilIdle(drainMs);
    this.#isStopping = true;
    this.#lives.beginStopping();
    this.#supervisor.close();
    this.#threads.beginClosing();
    await this.#threads.askAll((api) => api.shutdown(), SHUTDOWN);
    await this.#threads.askAll((api) => api.closeBooks(), SHUTDOWN);
    this.#eventReports.look();
    this.#logFeed?.close();
    await this.#threads.close();
    this.#history?.close();
    await this.#journal?.close();
    this.#stopBeat();
  }

  async whenKept(): Promise<void> {
    // What a thread that dies had not given to the journal was sent by handlers that died with it.
    await Promise.all([...this.#threads].map(({ connection }) => unlessItDies(connection.api.whenKept())));
  }

  #hear(incarnation: ThreadIncarnation, message: NodeReport): void {
    switch (message.t) {
      case 'flow-slab':
        incarnation.addFlowSlab(message.index, message.memory);
        return;
      case 'name-slab':
        incarnation.addNameSlab(message.memory);
        return;
      case 'kept':
        for (const { incarnation: of, flow, mail } of message.kept) this.#incarnations.keep(of, flow, mail);
        return;
      case 'checkpoint':
        this.#incarnations.keepCheckpoint(message.kept);
        return;
      case 'told':
      case 'events':
      case 'audited':
        this.#eventReports.hear(incarnation, message);
        return;
      case 'received-all':
        this.#failover.receivedAll(incarnation, message);
        return;
      case 'table-wanted':
        this.#threads.tellTable(incarnation);
        return;
      case 'look-up':
        void this.#lookUp(incarnation, message.query);
        return;
      case 'loaded':
      case 'hosted':
        this.#hosting.hear(message);
        return;
      case 'started':
      case 'crashed':
      case 'exited':
      case 'parked':
      case 'process':
        this.#lives.hear(message);
        return;
      case 'offers':
        this.#offer(message.slot, message.offer);
        return;
      case 'changed':
        this.#upgrades.answered(message);
        return;
      case 'ended':
        this.#lives.hasEnded(message.slot);
        return;
      case 'enrol':
        this.#inTurn(() => this.#enrolPeers(incarnation, message.orders));
        return;
      case 'dismiss':
        this.#inTurn(() => this.#dismissPeers(message.ids));
        return;
      default:
        throw invalidOptions(`message of incarnation ${incarnation.number}`, message, 'a place message');
    }
  }

  /** The embedder's thread asks; whoever it found has been told to all when it answers. */
  async #lookUp(incarnation: ThreadIncarnation, query: RemoteQuery): Promise<void> {
    // A host that cannot be asked has found nobody.
    const asked = [PEERS, 'host'].filter((place) => this.#threads.has(place));
    for (const place of asked)
      await this.#threads
        .get(place)
        .connection.api.lookUp(query)
        .catch(() => undefined);
    this.#threads.tellIncarnation(incarnation, { t: 'looked-up', query });
  }

  /** Agents of other nodes join the team: all of one message, or none. */
  async #enrolPeers(incarnation: ThreadIncarnation, orders: readonly PeerOrder[]): Promise<void> {
    const modules = orders.map(({ module }) => module);
    const wanted = orders.filter(({ id, module }) => this.#agents.find(id)?.module !== module);
    let problem: string | undefined;
    try {
      if (wanted.length > 0) await this.start(wanted.map(peerOrder));
    } catch (error) {
      problem = reasonOf(error);
    }
    this.#threads.tellIncarnation(incarnation, { t: 'enrolled', modules, problem });
  }

  /** These agents of other nodes are no more; an agent of this node that has taken an id meanwhile is none of them. */
  async #dismissPeers(ids: readonly string[]): Promise<void> {
    const remove = ids.filter((id) => this.#agents.find(id)?.place === PEERS);
    if (remove.length > 0) await this.announce({ version: 0, ...NO_CHANGE, remove });
  }

  /** What is said of other nodes is done in the order in which it is said. */
  #inTurn(run: () => Promise<void>): void {
    this.#peerWork = this.#peerWork.then(run).catch((error: unknown) => {
      this.#log.note('error', { agentId: PEERS, success: false, reason: reasonOf(error) });
    });
  }

  // Other nodes

  async openPeers(boot: PeerBoot): Promise<readonly AgentEndpoint[]> {
    this.#threads.ensure(PEERS);
    this.#peerBoot = boot;
    return this.#openPeersAt(this.#threads.get(PEERS), boot);
  }

  /** What carries channels over a network computes for a while when it is loaded. */
  #openPeersAt(thread: ThreadHandle, boot: PeerBoot): Promise<readonly AgentEndpoint[]> {
    return new Promise((resolve, reject) => {
      const endLoading = this.#threads.watchLoading(thread, { isElsewhere: false }, (still) => {
        const modules = boot.transports.map(({ module }) => module).join();
        reject(notLoaded(thread.id, modules, still));
        this.#threads.end(thread.id, { reason: 'loading its transports did not end', isCharged: false });
      });
      thread.connection.api.openPeers(boot).then(resolve, reject).finally(endLoading);
    });
  }

  /** The thread that spoke with other nodes is gone: its successor does, as soon as it is there. */
  #reopenPeers(thread: ThreadHandle): void {
    const boot = this.#peerBoot;
    if (boot === undefined) return;
    this.#threads.whenUp(thread, () =>
      this.#inTurn(async () => {
        await this.#openPeersAt(thread, boot);
      }),
    );
  }

  /** Notes what a successor of the thread that speaks with other nodes has to know. */
  #bootPeers(change: (boot: PeerBoot) => Partial<PeerBoot>): void {
    if (this.#peerBoot !== undefined) this.#peerBoot = { ...this.#peerBoot, ...change(this.#peerBoot) };
  }

  async peers(): Promise<readonly PeerRow[]> {
    return this.#threads.has(PEERS) ? this.#threads.get(PEERS).connection.api.peers() : [];
  }

  async refusedPeers(): Promise<readonly RefusedPeer[]> {
    return this.#threads.has(PEERS) ? this.#threads.get(PEERS).connection.api.refusedPeers() : [];
  }

  async dialPeer(endpoint: AgentEndpoint): Promise<void> {
    this.#bootPeers(({ dial }) => ({ dial: [...dial, endpoint] }));
    await this.#threads.get(PEERS).connection.api.dialPeer(endpoint);
  }

  async trustPeer(entry: Trust): Promise<void> {
    this.#bootPeers((boot) => trusting(boot, entry));
    await this.#threads.get(PEERS).connection.api.trustPeer(entry);
  }

  async revokePeer(publicKey: string): Promise<void> {
    this.#bootPeers((boot) => revoking(boot, publicKey));
    await this.#threads.get(PEERS).connection.api.revokePeer(publicKey);
  }

  #learn(report: EventReport): void {
    if (report.t === 'audited') return this.#log.audit(report.event);
    if (report.t === 'told') {
      this.#log.addLetters(report.letters);
      for (const letter of report.letters) this.#logFeed?.add(deadLetterEvent(letter));
    }
    if (report.events.length > 0) this.#show(report.events);
  }

  /** What an agent offers by now is on its card everywhere. */
  #offer(slot: number, offer: AgentOffer): void {
    const agent = this.#agents.inSlot(slot);
    if (agent === undefined || this.#agents.find(agent.id) !== agent || this.#isStopping) return;
    agent.offered = offer;
    const delta = this.#agents.replace(agent, offeringProfile(agent.profile, offer));
    this.#threads.tellAll({ t: 'table', delta });
  }

  #historyIn(journal: JournalThread): ControlHistory {
    return new ControlHistory({
      journal,
      onProblem: (error) => {
        const reason = `what was remembered cannot be read: ${reasonOf(error)}`;
        this.#log.note('history', { success: false, reason });
      },
    });
  }

  /** Lets the embedder's thread have what it asked to see. */
  #show(events: readonly SystemEvent[]): void {
    if (this.#threads.isInspected) this.#threads.tell(this.#threads.get('host'), { t: 'events', events });
  }

  #live(): void {
    this.#beat[0] = ((this.#beat[0] as number) + 1) | 0;
    this.#incarnations.trim();
    this.#history?.give();
    this.#stopBeat = this.#seams.clock.setTimer(BEAT_MS, () => this.#live());
  }
}

const peerOrder = ({ id, module }: PeerOrder): AgentOrder => ({
  ...{ module, ids: [id], isInline: false, isPeer: true },
  ...{ process: undefined, lazy: undefined, card: undefined },
});

/** Without what was in it. */
const deadLetterEvent = ({ id, sender, recipient, code, reason, atMs }: DeadLetter): SystemEvent => ({
  type: 'dead-letter',
  timestamp: atMs,
  ...(id === undefined ? {} : { envelopeId: id }),
  ...{ sender, recipient, errorCode: code, reason, success: false },
});

const journalFacts = (failure: ErrorData | undefined): Partial<SystemEvent> =>
  failure === undefined
    ? { success: true, reason: 'it can write again' }
    : { success: false, errorCode: failure.code, reason: failure.message };
