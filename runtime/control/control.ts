import { Accounts } from '../budget/accounts.ts';
import { ControlLog } from '../observe/control-log.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { EventReport } from '../observe/event-report.ts';
import type { ToolCount } from '../observe/tool-counts.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { type ErrorData, invalidOptions, type LastError, reasonOf, refused } from '../protocol/errors.ts';
import type { RoutingConfig } from '../protocol/routing-config.ts';
import { AgentWords } from '../routing/agent-words.ts';
import type { RemoteQuery } from '../routing/remote-lookup.ts';
import { type AgentOffer, offeringProfile } from '../routing/offered-profile.ts';
import { NO_CHANGE, type TableDelta } from '../routing/routing-table.ts';
import type { AgentProfile } from '../protocol/agent-row.ts';
import { Supervisor } from '../supervision/supervisor.ts';
import type { Conservation } from '../protocol/conservation.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import type { RosterRow } from '../protocol/roster.ts';
import { AgentTable, type AgentRecord } from './agent-table.ts';
import { AgentOrders } from './agent-orders.ts';
import { AgentProcesses } from './agent-processes.ts';
import { AgentReports } from './agent-reports.ts';
import { ControlHistory } from './control-history.ts';
import { type AgentOrder, Enrolment } from './enrolment.ts';
import type { ControlBoot, ControlCalls, WrongStart } from './control-calls.ts';
import { type FirstStart, FirstStarts } from './first-starts.ts';
import { Hosting, unlessItDies } from './hosting.ts';
import { JournalThread } from '../journal/journal-thread.ts';
import type { NodeReport } from '../thread/control-protocol.ts';
import type { Port } from '../link/port.ts';
import type { Spawner } from '../link/spawner.ts';
import type { Seams } from '../protocol/seams.ts';
import { LostAccounts } from './lost-accounts.ts';
import { Overview } from './overview.ts';
import { Threads } from './threads.ts';
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
  readonly #lostAccounts: LostAccounts;
  readonly #log: ControlLog;
  readonly #eventReports: EventReports;
  readonly #overview: Overview;
  readonly #firstStarts = new FirstStarts();
  readonly #processes: AgentProcesses;
  readonly #orders: AgentOrders;
  readonly #reports: AgentReports;
  readonly #journal: JournalThread | undefined;
  readonly #history: ControlHistory | undefined;
  readonly #beat: Int32Array;
  #config: RoutingConfig | undefined;
  #inspected = false;
  #isStopping = false;
  #stopBeat: () => void = () => undefined;

  constructor(boot: ControlBoot, { seams, spawner, host, onEvent }: ControlDeps) {
    const { options, workerOptions, accounts, agentWords } = boot;
    this.#seams = seams;
    this.#beat = new Int32Array(boot.beat);
    this.#agents = new AgentTable(new AgentWords(agentWords));
    const { clock } = seams;
    this.#log = new ControlLog({
      clock,
      limits: options.events,
      onEvent: (event) => onEvent?.(event),
      remember: (event) => this.#history?.remember(event),
      show: (event) => this.#show([event]),
    });
    this.#eventReports = new EventReports({
      clock,
      isLiving: (incarnation) => this.#incarnations.isLiving(incarnation),
      give: (report) => this.#learn(report),
    });
    this.#supervisor = new Supervisor(
      {
        seams,
        start: (ids) => this.#orders.give('start', ids),
        stop: (ids) => this.#orders.endAll(ids),
        onEvent: (event) => this.#log.add(event),
        onGaveUp: (id, last) => this.#gaveUp(id, last),
        onRefuse: (id, refusal) => this.#orders.refuse(id, refusal),
      },
      options.supervision,
    );
    this.#journal =
      options.journal &&
      new JournalThread({
        ...{ spawner, clock, options: options.journal },
        ...{ accounts, starting: options.starting },
        onFailure: (failure) => this.#log.note('journal', journalFacts(failure)),
        onMissing: (reason) => this.#log.note('history', { success: false, reason }),
      });
    this.#history = this.#journal?.keepsHistory === true ? this.#historyIn(this.#journal) : undefined;
    this.#threads = new Threads({
      seams,
      spawner,
      workerOptions,
      incarnations: this.#incarnations,
      broadcastToSender: options.broadcastToSender,
      spareThread: options.spareThread,
      accounts,
      agentWords,
      cpu: options.cpu,
      watchdog: options.watchdog,
      starting: options.starting,
      events: options.events,
      peers: options.peers,
      journal: this.#journal,
      table: () => this.#agents.snapshot(),
      current: () => ({ isInspected: this.#inspected, config: this.#config }),
      onMessage: (incarnation, message) => this.#hear(incarnation, message),
      onDeath: (thread, dead, ending) => {
        this.#eventReports.look();
        this.#processes.endAt(thread.id);
        this.#upgrades.cut(thread);
        this.#failover.begin(thread, dead, ending);
        this.#lostAccounts.threadDied(dead.number);
      },
      note: (type, facts) => this.#log.note(type, facts),
    });
    this.#processes = new AgentProcesses({
      agents: this.#agents,
      threads: this.#threads,
      spawner,
      firstStarts: this.#firstStarts,
      clock,
      log: this.#log,
    });
    this.#hosting = new Hosting(this.#threads);
    this.#lostAccounts = new LostAccounts({
      accounts: new Accounts(accounts, NO_ACCOUNT_HOLDER),
      threads: this.#threads,
      clock,
      kept: () => this.#incarnations.heldAccounts(),
    });
    const parts = {
      agents: this.#agents,
      threads: this.#threads,
      incarnations: this.#incarnations,
      hosting: this.#hosting,
      supervisor: this.#supervisor,
    };
    this.#orders = new AgentOrders(parts);
    this.#reports = new AgentReports({
      ...parts,
      orders: this.#orders,
      processes: this.#processes,
      firstStarts: this.#firstStarts,
      isStopping: () => this.#isStopping,
    });
    const { workers } = options;
    this.#enrolment = new Enrolment({
      ...parts,
      orders: this.#orders,
      workers,
      durable: options.journal?.durable,
    });
    this.#upgrades = new Upgrades({
      ...parts,
      enrolment: this.#enrolment,
      note: (type, facts) => this.#log.note(type, facts),
    });
    this.#overview = new Overview({ ...parts, clock, log: this.#log, history: this.#history });
    this.#failover = new ThreadFailover({
      ...parts,
      mailsAt: this.#journal && ((numbers) => (this.#journal as JournalThread).mailsAt(numbers)),
      onUp: ({ id }) => this.#log.note('place-started', { place: id }),
      onReported: (crashes) => {
        this.#orders.endStopped(crashes.map(({ agentId }) => agentId));
        for (const { agentId, charged } of crashes) if (charged) this.#firstStarts.ended(agentId);
      },
    });
    this.#live();
    this.#threads.addHost(this.#incarnations.open(boot.hostIncarnation), host, this);
  }

  /** Worker threads are started when agents come to live in them. */
  async boot(): Promise<void> {
    if (this.#journal === undefined) return;
    this.#log.addLetters(await this.#journal.open());
    await this.#processes.endLeft(this.#journal);
    this.#threads.connectJournal(this.#threads.get('host'));
  }

  // The api of the host

  async start(orders: readonly AgentOrder[]): Promise<readonly WrongStart[]> {
    const records = await this.#enrolment.enrol(orders);
    // What former processes left comes before anything new.
    if (this.#journal !== undefined) await this.#hosting.recover(records);
    const faults = await this.#startAll(records);
    this.#threads.prepareSpare();
    // One order may be for several instances.
    const orderOf = orders.flatMap(({ ids }, at) => (ids ?? [undefined]).map(() => at));
    return faults.flatMap((fault, at) =>
      fault === undefined
        ? []
        : [{ agentId: (records[at] as AgentRecord).id, at: orderOf[at] as number, fault }],
    );
  }

  async announce({ profiles, upsert, remove }: TableDelta): Promise<void> {
    for (const id of remove) if (this.#agents.has(id)) await this.stopAgent(id);
    const gone = remove.flatMap((id) => this.#agents.find(id) ?? []);
    for (const { id } of gone) this.#enrolment.forget(id);
    const rows = upsert.map((row) => {
      const agent = this.#agents.find(row.id);
      if (agent === undefined) return row;
      agent.profile = profiles[row.profile] as AgentProfile;
      // Where it lives is not the host's to say, which may not know it yet.
      return { ...row, slot: agent.slot, place: agent.place };
    });
    this.#threads.tellAll({ t: 'table', delta: this.#agents.write({ profiles, upsert: rows, remove }) });
    this.#orders.forget(gone);
  }

  roster(withActors = false): Promise<RosterRow[]> {
    return withActors ? this.#overview.rosterWithActors() : this.#overview.roster();
  }

  async restart(id: string): Promise<void> {
    this.#agents.get(id).gaveUp = undefined;
    const { status } = this.#supervisor.status(id);
    if (status === 'parked') throw refused(`${id} is parked: resume it`, { agentId: id });
    const isThere = status === 'starting' || status === 'running';
    const started = isThere ? undefined : this.#firstStarts.of(id);
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
    await this.#orders.stop(id);
  }

  async terminate(id: string): Promise<void> {
    const process = this.#processes.end(id);
    if (process !== undefined) return process;
    this.#threads.end(id, { reason: 'it was ended from outside', isCharged: false });
    await new Promise<void>((resolve) => this.#threads.whenUp(this.#threads.get(id), resolve));
  }

  async configure(config: RoutingConfig): Promise<void> {
    this.#config = { ...this.#config, ...config };
    this.#threads.tellAll({ t: 'config', config });
    // A version of its own: what was judged before and is under way is judged again.
    this.#threads.tellAll({ t: 'table', delta: this.#agents.write(NO_CHANGE) });
    await this.#threads.askAll((api) => api.ping());
  }

  async inspect(isOn: boolean): Promise<void> {
    this.#inspected = isOn;
    await this.#threads.askAll((api) => api.inspect(isOn));
  }

  recentEvents(limit: number): Promise<readonly SystemEvent[]> {
    this.#eventReports.look();
    return this.#overview.recentEvents(limit);
  }

  toolCounts(): Promise<readonly ToolCount[]> {
    return this.#overview.toolCounts();
  }

  thread(correlationId: string): Promise<readonly A2AEnvelope[]> {
    return this.#overview.thread(correlationId);
  }

  deadLetters(): readonly DeadLetter[] {
    this.#eventReports.look();
    return this.#log.deadLetters();
  }

  conservation(): Promise<Conservation> {
    return this.#overview.conservation();
  }

  counts(): Float64Array {
    return this.#incarnations.counts();
  }

  async stop(drainMs: number): Promise<void> {
    this.#threads.beginDraining();
    await this.#overview.untilIdle(drainMs);
    this.#isStopping = true;
    this.#supervisor.close();
    this.#threads.beginClosing();
    await this.#threads.askAll((api) => api.shutdown(), SHUTDOWN);
    await this.#threads.askAll((api) => api.closeBooks(), SHUTDOWN);
    this.#eventReports.look();
    await this.#threads.close();
    this.#history?.close();
    await this.#journal?.close();
    this.#stopBeat();
  }

  async whenKept(): Promise<void> {
    // What a thread that dies had not given to the journal was sent by handlers that died with it.
    await Promise.all([...this.#threads].map(({ connection }) => unlessItDies(connection.api.whenKept())));
  }

  async #startAll(records: readonly AgentRecord[]): Promise<readonly FirstStart[]> {
    const firstStarts = records.map(({ id, profile }) =>
      profile.lazy ? undefined : this.#firstStarts.ofNew(id),
    );
    this.#orders.give(
      'start',
      records.map((record) => record.id),
    );
    return Promise.all(firstStarts);
  }

  #gaveUp(id: string, last: LastError): void {
    this.#orders.giveUp(id, last);
    this.#firstStarts.ended(id);
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
        this.#reports.hear(message);
        return;
      case 'offers':
        this.#offer(message.slot, message.offer);
        return;
      case 'changed':
        this.#upgrades.answered(message);
        return;
      case 'ended':
        this.#orders.hasEnded(message.slot);
        return;
      default:
        throw invalidOptions(`message of incarnation ${incarnation.number}`, message, 'a place message');
    }
  }

  /** The embedder's thread asks; whoever it found has been told to all when it answers. */
  async #lookUp(incarnation: ThreadIncarnation, query: RemoteQuery): Promise<void> {
    // A host that cannot be asked has found nobody.
    await this.#threads
      .get('host')
      .connection.api.lookUp(query)
      .catch(() => undefined);
    this.#threads.tellIncarnation(incarnation, { t: 'looked-up', query });
  }

  #learn(report: EventReport): void {
    if (report.t === 'audited') return this.#log.audit(report.event);
    if (report.t === 'told') this.#log.addLetters(report.letters);
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
    if (this.#inspected) this.#threads.tell(this.#threads.get('host'), { t: 'events', events });
  }

  #live(): void {
    this.#beat[0] = ((this.#beat[0] as number) + 1) | 0;
    this.#incarnations.trim();
    this.#history?.give();
    this.#stopBeat = this.#seams.clock.setTimer(BEAT_MS, () => this.#live());
  }
}

const journalFacts = (failure: ErrorData | undefined): Partial<SystemEvent> =>
  failure === undefined
    ? { success: true, reason: 'it can write again' }
    : { success: false, errorCode: failure.code, reason: failure.message };
