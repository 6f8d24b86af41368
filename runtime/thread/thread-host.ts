import type { AgentDefinition } from '../agent/agent-definition.ts';
import { Interceptors } from '../cell/interceptors.ts';
import type { Interceptor } from '../cell/interceptor.ts';
import type { MakeActor } from '../cell/actor-life.ts';
import type { Cell } from '../cell/cell.ts';
import { CpuPool, type CpuPoolOptions } from '../agent/offload.ts';
import type { Outside } from '../agent/outside.ts';
import type { StartedRings } from '../journal/started-ring.ts';
import { InFlow } from '../mailbox/in-flow.ts';
import type { Lane } from '../mailbox/lane.ts';
import { mailFromData } from '../mailbox/mail.ts';
import { flowBase } from '../mailbox/flow-marks.ts';
import type { EventLimits } from '../observe/event-limits.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { ToolCount } from '../observe/tool-counts.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { errorToData, notHere, type OrreryError, systemStopped } from '../protocol/errors.ts';
import type { JudgePolicy } from '../protocol/policy.ts';
import type { ActorRow } from '../protocol/roster.ts';
import type { Seams } from '../protocol/seams.ts';
import { ProcessHost } from '../processes/process-host.ts';
import type { ProcessOptions } from '../agent/process-options.ts';
import type { ProcessSpawner } from '../processes/process-spawner.ts';
import { GrantBook } from '../routing/grants.ts';
import type { RemoteQuery } from '../routing/remote-lookup.ts';
import { RoutingTable, type TableDelta } from '../routing/routing-table.ts';
import type { ProgressLimits } from '../supervision/progress-watch.ts';
import type { WatchdogLimits } from '../supervision/supervisor-options.ts';
import { AgentHost } from './agent-host.ts';
import { countInFlight } from './count-in-flight.ts';
import type { EventLoop } from '../protocol/event-loop.ts';
import { changeCode, parkAgents } from './code-change.ts';
import type { ControlMessage, NodeMessage, Replay } from './lines.ts';
import type { LoadedAgent } from '../agent/loaded-agent.ts';
import { ThreadNode, type NodePeers } from './thread-node.ts';
import { envelopeOf } from './node-history.ts';
import { NodeJournal } from './node-journal.ts';
import type { Port } from '../link/port.ts';

/** How long a place that stops waits for the journal. */
const LEAVE_MS = 1_000;

/** What a place is started with, as plain data. */
export interface NodeBoot {
  readonly id: string;
  readonly incarnation: number;
  readonly counters: SharedArrayBuffer;
  readonly status: SharedArrayBuffer;
  readonly commitLog: SharedArrayBuffer;
  /** The open budgets of the whole system. */
  readonly accounts: SharedArrayBuffer;
  /** A word for each agent of the system, as `AgentWords` has it. */
  readonly agentWords: SharedArrayBuffer;
  readonly table: TableDelta;
  readonly broadcastToSender: boolean;
  readonly cpu: CpuPoolOptions;
  readonly watchdog: WatchdogLimits;
  readonly starting: ProgressLimits;
  readonly events: EventLimits;
  readonly peers: NodePeers | undefined;
}

/** Counts of one place; `inFlight` is counted in its mailboxes and ledgers. */
export interface NodeStats {
  readonly inFlight: number;
  /** Accepted by former processes, and still in the journal. */
  readonly left: number;
  readonly isIdle: boolean;
}

export interface ThreadHostDeps {
  readonly boot: NodeBoot;
  readonly seams: Seams;
  readonly policies: readonly JudgePolicy[];
  readonly line: Port;
  readonly received: (port: unknown) => Port;
  readonly loop: EventLoop;
  /** Agents that were given as live objects, by their key. */
  readonly inline: ReadonlyMap<string, AgentDefinition<unknown>>;
  readonly onEvents?: (events: readonly SystemEvent[]) => void;
  /** Who attends to the agents here. @default nobody */
  readonly interceptors?: readonly Interceptor[];
  /** Starts the processes of agents that have one. @default no such agent lives here */
  readonly processSpawner?: ProcessSpawner;
  /** How its agents reach what is outside the system. @default as they say themselves */
  readonly outside?: Outside;
  /** Makes the lives of agents whose code runs here. @default the code alone */
  readonly makeActor?: MakeActor;
  /** Asks other nodes for whom nobody here has, and takes in whom they have; only of the embedder's thread. */
  readonly lookUp?: (query: RemoteQuery) => Promise<void>;
  /** Where it notes what it begins on, in a system with a journal. @default in files */
  readonly rings?: StartedRings | undefined;
}

/** Runs one place on the control thread's orders, and answers its questions (`ThreadHost` is the api of a place). */
export class ThreadHost {
  readonly node: ThreadNode;
  readonly #deps: ThreadHostDeps;
  readonly #cpu: CpuPool;
  readonly #processes: ProcessHost;
  readonly #agents: AgentHost;

  constructor(deps: ThreadHostDeps) {
    this.#deps = deps;
    const { boot, seams, policies } = deps;
    this.#cpu = new CpuPool({ seams }, boot.cpu);
    this.#processes = new ProcessHost({
      spawner: deps.processSpawner,
      clock: seams.clock,
      watchdog: boot.watchdog,
      starting: boot.starting,
      loop: deps.loop,
      journal: () => this.node.journal,
    });
    const table = new RoutingTable();
    const grants = new GrantBook(seams.clock);
    this.node = new ThreadNode({
      ...boot,
      seams,
      table,
      grants,
      policies,
      loop: deps.loop,
      cpu: this.#cpu,
      outside: deps.outside,
      interceptors: new Interceptors(deps.interceptors ?? []),
      tell: (message) => this.#tell(message),
    });
    this.#agents = new AgentHost({
      node: this.node,
      processes: this.#processes,
      inline: deps.inline,
      makeActor: deps.makeActor,
      tell: (message) => this.#tell(message),
    });
    this.node.router.replace(boot.table);
    deps.line.onMessage((message) => this.#hear(message));
  }

  /** Does what it has been told by now, and nobody has listened to yet. */
  readArrived(): void {
    const { line } = this.#deps;
    for (let next = line.take(); next !== undefined; next = line.take()) this.#hear(next.message);
  }

  #hear(message: unknown): void {
    this.node.turns.begin();
    this.#obey(message as ControlMessage);
  }

  /** Imports an agent module, here or in a process of its own. Fails with MODULE_INVALID naming it. */
  async load(module: string, process?: ProcessOptions): Promise<LoadedAgent> {
    // Processes are noted in the journal, which this thread may just have been told of.
    if (process !== undefined) this.readArrived();
    return this.#agents.load(module, process);
  }

  stats(): NodeStats {
    this.node.outbox.flush();
    const { isIdle, journal } = this.node;
    return { inFlight: countInFlight(this.node), left: journal?.left ?? 0, isIdle };
  }

  /** Resolves when the other nodes have been asked, and whoever they have is in the table. */
  async lookUp(query: RemoteQuery): Promise<void> {
    await this.#deps.lookUp?.(query);
  }

  /** The accounts of the envelopes that wait here or are in hand. */
  heldAccounts(): readonly number[] {
    const held = new Set<number>();
    for (const cell of this.node.cells())
      for (const { extras } of cell.mails()) if (extras?.account !== undefined) held.add(extras.account);
    return [...held];
  }

  /** Of the agents that live here, those that have actors, with these. */
  actors(): readonly { readonly id: string; readonly actors: readonly ActorRow[] }[] {
    const { interceptors } = this.node;
    return [...this.node.cells()].flatMap((cell) => {
      const actors = interceptors.actorsOf(cell);
      return actors.length === 0 ? [] : [{ id: cell.row.id, actors }];
    });
  }

  inspect(isOn: boolean): void {
    this.node.log.inspect(isOn);
  }

  recentEvents(): readonly SystemEvent[] {
    return this.node.log.recentEvents();
  }

  /** The calls of tools that were made from here. */
  toolCounts(): readonly ToolCount[] {
    return this.node.log.toolCounts.entries();
  }

  /** The envelopes of one conversation that this thread remembers having sent or answered. */
  thread(correlationId: string): readonly A2AEnvelope[] {
    const envelopes: A2AEnvelope[] = [];
    for (const traffic of this.node.log.traffic.entries()) {
      if (traffic.mail.correlationId !== correlationId) continue;
      const envelope = envelopeOf(traffic, this.node);
      if (envelope !== undefined) envelopes.push(envelope);
    }
    return envelopes;
  }

  /** Gives the agents in these slots what former processes left for them. Resolves when each has the first of it. */
  async recover(slots: readonly number[]): Promise<void> {
    const cells = slots.map((slot) => this.node.cellOf(slot)).filter((cell) => cell !== undefined);
    await this.node.journal?.recover(cells);
  }

  /** Resolves when what was sent from here to durable recipients is kept. */
  async whenKept(): Promise<void> {
    await this.node.journal?.whenKept();
  }

  /** Stops every agent here and lets go of everything. */
  async shutdown(): Promise<void> {
    await this.#leaveJournal();
    await Promise.all(
      [...this.node.cells()].map((cell) => cell.stop(systemStopped(`${cell.row.id} was stopped with it`))),
    );
    this.node.outbox.flush();
    await Promise.all([this.#cpu.close(), this.#processes.close()]);
    await this.#whenKeptSoon();
    this.node.journal?.history?.collect();
  }

  /** All places are shut down: what the last agents sent to those that had ended before them gets its outcome. */
  async closeBooks(): Promise<void> {
    this.node.links.readArrived();
    this.node.outbox.flush();
    const remembered = this.node.journal?.history?.leave();
    if (remembered === undefined) return;
    await this.node.within(remembered, LEAVE_MS, 'The last of the history').catch(() => undefined);
  }

  close(error: OrreryError = systemStopped('it was stopped')): void {
    this.node.close(error);
    this.node.journal?.close();
    this.#deps.line.close();
  }

  /** What has an outcome is told to the journal; what has none waits there, whatever becomes of it here. */
  async #leaveJournal(): Promise<void> {
    this.node.outbox.flush();
    await this.#whenKeptSoon();
    this.node.journal?.leave();
  }

  async #whenKeptSoon(): Promise<void> {
    const kept = this.node.journal?.whenKept();
    if (kept === undefined) return;
    await this.node.within(kept, LEAVE_MS, 'The last write to the journal').catch(() => undefined);
  }

  #obey(message: ControlMessage): void {
    const { node } = this;
    switch (message.t) {
      case 'table':
        node.router.apply(message.delta);
        node.lookups?.tableChanged();
        return;
      case 'whole-table':
        node.router.replace(message.delta);
        node.lookups?.tableChanged();
        return;
      case 'drain':
        node.router.drain();
        return;
      case 'looked-up':
        node.lookups?.ended(message.query);
        return;
      case 'config':
        node.judge.configure(message.config);
        return;
      case 'link': {
        const port = this.#deps.received(message.port);
        const { place: id, incarnation, credit, side, death } = message;
        if (death === undefined) node.links.connect(id, incarnation, port, credit, side);
        else node.links.reconnect(id, incarnation, port, credit, side, death);
        return;
      }
      case 'unlink':
        node.links.disconnect(message.place);
        return;
      case 'host':
        void this.#agents.host(message);
        return;
      case 'change':
        void changeCode(node, message, () => this.#agents.codeOf(message)).then((answer) =>
          this.#tell(answer),
        );
        return;
      case 'park':
        parkAgents(node, message.slots);
        return;
      case 'start':
        for (const slot of message.slots) this.#start(node.cellOf(slot));
        return;
      case 'halt':
        for (const slot of message.slots) node.cellOf(slot)?.halt();
        return;
      case 'stop':
        for (const slot of message.slots) void this.#stop(slot);
        return;
      case 'forget':
        for (const slot of message.slots) void this.#forget(slot);
        return;
      case 'end-process': {
        const cell = node.cellOf(message.slot);
        if (cell !== undefined) this.#processes.endProcess(cell);
        return;
      }
      case 'refuse':
        for (const refusal of message.refusals) node.cellOf(message.slot)?.refuse(refusal);
        return;
      case 'give-up':
        node.cellOf(message.slot)?.giveUp(message.last);
        return;
      case 'replay':
        for (const replay of message.replays) this.#replay(replay);
        return;
      case 'checkpoints':
        for (const kept of message.kept) node.checkpoints.restore(kept);
        return;
      case 'journal':
        node.journal = new NodeJournal(node, message.access, this.#deps);
        return;
      case 'inspect':
        node.log.inspect(message.isOn);
        return;
      case 'events':
        this.#deps.onEvents?.(message.events);
        return;
    }
  }

  #start(cell: Cell | undefined): void {
    if (cell === undefined) return;
    if (!cell.wasStarted) this.node.interceptors.resumed(cell);
    void this.node.journal?.giveRest(cell);
    if (cell.row.profile.lazy && cell.status === 'down' && !cell.wasStarted) {
      cell.sleepUntilMail();
      return;
    }
    this.node.startCell(cell);
  }

  async #stop(slot: number): Promise<void> {
    await this.node.cellOf(slot)?.stop();
    this.#tell({ t: 'ended', slot });
  }

  async #forget(slot: number): Promise<void> {
    const cell = await this.node.forget(slot);
    if (cell !== undefined) this.#processes.forget(cell);
  }

  /** Delivers what a dead thread held, in that thread's name. The control thread keeps its copies and names of it. */
  #replay({ incarnation, flow, slot, lane, slab, mails }: Replay): void {
    const cell = this.node.cellOf(slot);
    const inFlow =
      this.node.links.orphan(incarnation, flow) ??
      new InFlow(incarnation, flow, slot, lane as Lane, new Int32Array(slab), flowBase(flow));
    this.node.links.adopt(inFlow);
    const replayed = mails.map(mailFromData);
    if (cell !== undefined) this.node.journal?.replayed(cell, replayed);
    for (const mail of replayed) {
      mail.flow = inFlow;
      inFlow.received = mail.sequence;
      if (cell !== undefined) cell.deliver(mail, inFlow.lane);
      else this.node.refuseUnheld(mail, mail.tombstone ?? errorToData(notHere(mail.recipient, this.node.id)));
    }
  }

  #tell(message: NodeMessage): void {
    this.#deps.line.post(message);
  }
}
