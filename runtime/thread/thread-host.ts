import type { AgentDefinition } from '../agent/agent-definition.ts';
import { Interceptors } from '../cell/interceptors.ts';
import type { Interceptor } from '../cell/interceptor.ts';
import type { MakeActor } from '../cell/actor-life.ts';
import type { Cell } from '../cell/cell.ts';
import type { Outside } from '../agent/outside.ts';
import type { StartedRings } from '../journal/started-ring.ts';
import { InFlow } from '../mailbox/in-flow.ts';
import { type Lane, mailFromData } from '../mailbox/mail.ts';
import { flowBase } from '../mailbox/flow-marks.ts';
import type { LogLine } from '../observe/logger.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import { mostOf, type OldestWaiting, type ThreadMeasures } from '../observe/measures.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { errorToData, notHere, type OrreryError, systemStopped } from '../protocol/errors.ts';
import type { JudgePolicy } from '../protocol/policy.ts';
import type { AgentEndpoint } from '../protocol/agent-card.ts';
import type { PeerRow } from '../protocol/peer-row.ts';
import type { RefusedPeer } from '../protocol/refused-peer.ts';
import type { MachineDrawing } from '../protocol/machine-drawing.ts';
import type { ActorRow } from '../protocol/roster.ts';
import { isMachine } from '../upgrade/state-identity.ts';
import type { Seams, EventLoop } from '../protocol/seams.ts';
import type { PeerBoot } from '../peers/peer-boot.ts';
import { threadMeasures } from '../os/thread-measures.ts';
import type { PeerHost } from '../peers/peer-host.ts';
import type { Trust } from '../peers/trust.ts';
import { ProcessHost } from '../processes/process-host.ts';
import type { ProcessOptions } from '../agent/process-options.ts';
import type { ProcessSpawner } from '../processes/process-spawner.ts';
import type { RemoteQuery } from '../routing/remote-lookup.ts';
import { AgentHost } from './agent-host.ts';
import type { ControlOrder, NodeCalls, NodeReport, NodeStats, Replay } from './control-protocol.ts';
import type { LoadedAgent } from '../agent/loaded-agent.ts';
import { type NodeBoot, ThreadNode } from './thread-node.ts';
import { envelopeOf } from './node-history.ts';
import { NodeJournal } from './node-journal.ts';
import type { Connection } from '../link/connection.ts';
import type { Port } from '../link/port.ts';
import { STATUS } from '../mailbox/status-words.ts';

/** How long a place that stops waits for the journal. */
const LEAVE_MS = 1_000;

/** The one connection of a place with the control thread. Only the embedder's thread calls on it. */
export type ControlConnection = Pick<Connection<object, NodeReport>, 'serve' | 'tell' | 'close'>;

/** The thread that a place is in. */
export interface HostThread {
  readonly seams: Seams;
  readonly loop: EventLoop;
  readonly control: ControlConnection;
  readonly received: (port: unknown) => Port;
  /** Where it notes what it begins on, in a system with a journal. @default in files */
  readonly rings?: StartedRings | undefined;
  /** Only in the embedder's thread. */
  readonly embedder?: Embedder;
}

/** The system as whoever embeds it has it, to its own place. */
export interface Embedder {
  /** Shows what is inspected. */
  show(events: readonly SystemEvent[]): void;
  /** Writes a line of the log. */
  log(line: LogLine): void;
  /** Asks other nodes for whom nobody here has, and takes in whom they have. */
  lookUp(query: RemoteQuery): Promise<void>;
}

/** What a composition root gives the agents of a place. */
export interface HostDeps {
  readonly policies: readonly JudgePolicy[];
  /** The interceptors of this thread. @default none */
  readonly interceptors?: readonly Interceptor[];
  /** Agents that were given as live objects, by their key. @default none */
  readonly inline?: ReadonlyMap<string, AgentDefinition<unknown>>;
  /** Starts the processes of agents that have one. @default no such agent lives here */
  readonly processSpawner?: ProcessSpawner;
  /** How its agents reach what is outside the system. @default as they say themselves */
  readonly outside?: Outside;
  /** Makes the lives of agents whose code runs here. @default the code alone */
  readonly makeActor?: MakeActor;
}

/** Runs one place on the control thread's orders, and answers its calls. */
export class ThreadHost implements NodeCalls {
  readonly node: ThreadNode;
  readonly #thread: HostThread;
  readonly #processes: ProcessHost;
  readonly #agents: AgentHost;
  readonly #outside: Outside | undefined;
  #peers: PeerHost | undefined;

  constructor(boot: NodeBoot, thread: HostThread, deps: HostDeps) {
    this.#thread = thread;
    this.#outside = deps.outside;
    const { seams, loop, control } = thread;
    const { policies, interceptors = [], inline = new Map(), outside, makeActor } = deps;
    const tell = (report: NodeReport): void => this.#tell(report);
    this.#processes = new ProcessHost({
      spawner: deps.processSpawner,
      clock: seams.clock,
      watchdog: boot.watchdog,
      starting: boot.starting,
      loop,
      journal: () => this.node.journal,
    });
    this.node = new ThreadNode(
      { seams, loop, policies, interceptors: new Interceptors(interceptors), outside, tell },
      boot,
    );
    this.#agents = new AgentHost({
      ...{ node: this.node, processes: this.#processes, peers: () => this.#peers },
      ...{ inline, makeActor, tell },
    });
    control.serve<NodeCalls>(this, (order) => {
      this.node.turns.begin();
      this.#obey(order as ControlOrder);
    });
  }

  ping(): void {}

  async load(module: string, process?: ProcessOptions): Promise<LoadedAgent> {
    return this.#agents.load(module, process);
  }

  stats(): NodeStats {
    this.node.outbox.flush();
    const { isIdle, journal } = this.node;
    return { inFlight: this.node.countInFlight(), left: journal?.left ?? 0, isIdle };
  }

  async lookUp(query: RemoteQuery): Promise<void> {
    await this.#thread.embedder?.lookUp(query);
    await this.#peers?.lookUp(query);
  }

  async openPeers(boot: PeerBoot): Promise<readonly AgentEndpoint[]> {
    const { openPeerHost } = await import('../peers/open-peer-host.ts');
    const opened = await openPeerHost(boot, {
      thread: this.node,
      cellOf: (slot) => this.node.cellOf(slot),
      reports: {
        enrol: (orders) => this.#tell({ t: 'enrol', orders }),
        dismiss: (ids) => this.#tell({ t: 'dismiss', ids }),
      },
      makeTransport: this.#outside?.transport,
    });
    this.#peers = opened.host;
    return opened.endpoints;
  }

  peers(): readonly PeerRow[] {
    return this.#peers?.rows() ?? [];
  }

  refusedPeers(): readonly RefusedPeer[] {
    return this.#peers?.node.refused ?? [];
  }

  dialPeer(endpoint: AgentEndpoint): void {
    this.#peers?.node.dial(endpoint);
  }

  trustPeer(entry: Trust): void {
    this.#peers?.trust(entry);
  }

  revokePeer(publicKey: string): void {
    this.#peers?.revoke(publicKey);
  }

  heldAccounts(): readonly number[] {
    const held = new Set<number>();
    for (const cell of this.node.cells())
      for (const { extras } of cell.mails()) if (extras?.account !== undefined) held.add(extras.account);
    return [...held];
  }

  actors(): readonly { readonly id: string; readonly actors: readonly ActorRow[] }[] {
    const { interceptors } = this.node;
    return [...this.node.cells()].flatMap((cell) => {
      const own = cell.lives.current?.row;
      const actors = [...(own === undefined ? [] : [own]), ...interceptors.actorsOf(cell)];
      return actors.length === 0 ? [] : [{ id: cell.row.id, actors }];
    });
  }

  async machines(): Promise<readonly MachineDrawing[]> {
    const { drawingOf } = await import('../machine/machine-drawing.ts');
    return [...this.node.cells()].flatMap((cell) => {
      const { actorLogic } = cell.definition;
      return isMachine(actorLogic) ? [{ ...drawingOf(actorLogic), agentId: cell.row.id }] : [];
    });
  }

  recentEvents(): readonly SystemEvent[] {
    return this.node.log.recentEvents();
  }

  async tellEvents(): Promise<void> {
    const { log, outbox } = this.node;
    log.postHeld();
    await new Promise<void>((resolve) => outbox.whenCommitted(resolve));
  }

  measures(): ThreadMeasures {
    const oldest = mostOf(this.#waiting(), ({ sinceMs }) => -sinceMs);
    return { ...threadMeasures(), oldest, tools: this.node.log.toolCounts.entries() };
  }

  *#waiting(): Iterable<OldestWaiting> {
    for (const { row, waitingSinceMs } of this.node.cells())
      if (waitingSinceMs !== undefined) yield { agentId: row.id, sinceMs: waitingSinceMs };
  }

  thread(correlationId: string): readonly A2AEnvelope[] {
    const envelopes: A2AEnvelope[] = [];
    for (const traffic of this.node.log.traffic.entries()) {
      if (traffic.mail.correlationId !== correlationId) continue;
      const envelope = envelopeOf(traffic, this.node);
      if (envelope !== undefined) envelopes.push(envelope);
    }
    return envelopes;
  }

  async recover(slots: readonly number[]): Promise<void> {
    const cells = slots.map((slot) => this.node.cellOf(slot)).filter((cell) => cell !== undefined);
    await this.node.journal?.recover(cells);
  }

  async whenKept(): Promise<void> {
    await this.node.journal?.whenKept();
  }

  async shutdown(): Promise<void> {
    await this.#leaveJournal();
    await Promise.all(
      [...this.node.cells()].map((cell) => cell.stop(systemStopped(`${cell.row.id} was stopped with it`))),
    );
    this.node.outbox.flush();
    await Promise.all([this.node.cpu.close(), this.#processes.close(), this.#peers?.close()]);
    await this.#whenKeptSoon();
    this.node.journal?.history?.collect();
  }

  async closeBooks(): Promise<void> {
    // The links of this thread, which have no order with the control thread's port: others posted on them as they ended.
    this.node.links.readArrived();
    this.node.outbox.flush();
    await Promise.all([
      this.#soon(this.node.journal?.history?.leave(), 'The last of the history'),
      this.#soon(this.node.seams.tracer?.flush(), 'The export of the last spans'),
    ]);
  }

  close(error: OrreryError = systemStopped('it was stopped')): void {
    this.node.close(error);
    this.node.journal?.close();
    this.#thread.control.close();
  }

  /** What has an outcome is told to the journal; what has none waits there, whatever becomes of it here. */
  async #leaveJournal(): Promise<void> {
    this.node.outbox.flush();
    await this.#whenKeptSoon();
    this.node.journal?.leave();
  }

  #whenKeptSoon(): Promise<void> {
    return this.#soon(this.node.journal?.whenKept(), 'The last write to the journal');
  }

  /** Waits a moment for what is done last; whether it is done or not, the place goes on ending. */
  async #soon(work: Promise<unknown> | undefined, what: string): Promise<void> {
    if (work === undefined) return;
    await this.node.wheel.within(work, LEAVE_MS, what).catch(() => undefined);
  }

  #obey(message: ControlOrder): void {
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
        const { place, incarnation, credit, side, death } = message;
        const end = { place, incarnation, port: this.#thread.received(message.port), credit, side };
        if (death === undefined) node.links.connect(end);
        else node.links.reconnect(end, death);
        return;
      }
      case 'unlink':
        node.links.disconnect(message.place);
        return;
      case 'host':
        void this.#agents.host(message);
        return;
      case 'change':
        void this.#agents.change(message);
        return;
      case 'park':
        for (const slot of message.slots) node.cellOf(slot)?.park();
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
        node.keepIn(new NodeJournal(node, message.access, this.#thread));
        return;
      case 'enrolled':
        this.#peers?.enrolled(message.modules, message.problem);
        return;
      case 'inspect':
        node.log.inspect(message.isOn, message.eventsPerSecond);
        return;
      case 'events':
        this.#thread.embedder?.show(message.events);
        return;
      case 'logged':
        this.#thread.embedder?.log(message.line);
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
    this.node.supervisor.start(cell);
  }

  async #stop(slot: number): Promise<void> {
    await this.node.cellOf(slot)?.stop();
    this.#tell({ t: 'ended', slot });
  }

  async #forget(slot: number): Promise<void> {
    const cell = await this.node.forget(slot);
    if (cell === undefined) return;
    this.#processes.forget(cell);
    this.#peers?.forgotten(cell.row.id);
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

  /** It is counted when it is posted: whoever is told later, on whatever way, can see how much the control thread has to hear. */
  #tell(report: NodeReport): void {
    this.#thread.control.tell(report);
    const { status } = this.node;
    status[STATUS.reported] = ((status[STATUS.reported] as number) + 1) | 0;
  }
}
