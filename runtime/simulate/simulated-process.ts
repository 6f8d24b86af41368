import type { AgentClient, Interceptor } from '../cell/interceptor.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { Outcome, SystemEvent } from '../protocol/system-event.ts';
import { invalidOptions } from '../protocol/errors.ts';
import type { JudgePolicy } from '../protocol/policy.ts';
import type { Seams } from '../protocol/seams.ts';
import type { Store } from '../protocol/store.ts';
import { createSystem } from '../system/create-system.ts';
import type { System } from '../system/system.ts';
import type { Conservation } from '../protocol/conservation.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import type { RosterRow } from '../protocol/roster.ts';
import * as bootPlaces from '../system/boot-node.ts';
import * as controls from '../control/control.ts';
import { becomeThread } from '../system/boot-thread.ts';
import type { ThreadBoot } from '../control/control-calls.ts';
import type { ThreadHost } from '../thread/thread-host.ts';
import type { ThreadNode } from '../thread/thread-node.ts';
import type { Port } from '../link/port.ts';
import type { Spawner } from '../link/spawner.ts';
import type { LedgerCheck } from './ledger-check.ts';
import type { Scheduler } from './scheduler.ts';
import type { NodeSettings } from './simulate-options.ts';
import type { SimulatedAgents } from './simulated-agents.ts';
import { SIMULATED_PATH, type SimulatedDisk } from './simulated-disk.ts';
import type { SimulatedOutside } from './simulated-outside.ts';
import type { VirtualThreads } from './virtual-spawner.ts';
import type { VirtualThread } from './virtual-thread.ts';
import { type ActorWatch, WatchedActor } from './watched-actor.ts';

/** What the composition root injects. */
export interface SimulationDeps<Team extends System> {
  readonly policies: readonly JudgePolicy[];
  readonly workerOptions: unknown;
  readonly interceptors: readonly Interceptor[];
  /** Makes the embedder's team of a system. */
  readonly embed: (system: System, seams: Seams) => Team | Promise<Team>;
  readonly agents: SimulatedAgents;
  /** Checks of the state that interceptors hold at clients. @default none */
  readonly clientChecks?: readonly ClientCheck[];
}

/** Checks the state that interceptors hold at the clients of agents. */
export interface ClientCheck {
  readonly violations: readonly string[];
  see(client: AgentClient): void;
}

/** The state of a team at the end of a simulation. */
export interface FinalState {
  readonly conservation: Conservation;
  readonly deadLetters: readonly DeadLetter[];
  readonly roster: readonly RosterRow[];
}

/** Is told what happens in a process and its actors. */
export interface ProcessWatch extends ActorWatch {
  record(event: SystemEvent): void;
  /** Called when a mail has an outcome in a place. */
  settled(mail: Mail, place: string, outcome: Outcome | undefined): void;
  /** Called when a thread has become a place. */
  placed(thread: VirtualThread): void;
}

export interface SimulatedProcessDeps {
  readonly scheduler: Scheduler;
  readonly threads: VirtualThreads;
  readonly outside: SimulatedOutside;
  readonly disk: SimulatedDisk | undefined;
  readonly ledger: LedgerCheck;
  readonly watch: ProcessWatch;
}

/** One life of the embedder's process: a system and its threads. */
export class SimulatedProcess<Team extends System> {
  readonly host: VirtualThread;
  /** The places that are up. */
  readonly hosts = new Map<VirtualThread, ThreadHost>();
  readonly ledger: LedgerCheck;
  team: Team | undefined;
  readonly #given: SimulationDeps<Team>;
  readonly #options: NodeSettings<Team>;
  readonly #deps: SimulatedProcessDeps;
  readonly #firstThread: number;

  constructor(given: SimulationDeps<Team>, options: NodeSettings<Team>, deps: SimulatedProcessDeps) {
    this.#given = given;
    this.#options = options;
    this.#deps = deps;
    const { threads, ledger } = deps;
    this.ledger = ledger;
    this.#firstThread = threads.all.length;
    this.host = threads.newThread('host');
    this.host.placeId = 'host';
  }

  get threads(): readonly VirtualThread[] {
    return this.#deps.threads.all.slice(this.#firstThread);
  }

  /** Starts the system. Must be called in a step of the embedder's thread. */
  async start(): Promise<Team> {
    const { threads, disk } = this.#deps;
    const { policies, workerOptions, interceptors, agents, embed } = this.#given;
    const { workers, supervision, broadcastToSender, watchdog, journal, peers } = this.#options;
    const { host } = this;
    const system = await createSystem(
      {
        seams: host.seams,
        spawner: threads.spawnerOf(host),
        policies,
        workerOptions,
        interceptors,
        loop: host.loop,
        onHost: (place) => this.#watchPlace(host, place),
        ...(disk && { rings: disk.rings }),
      },
      {
        agents: agents.specs,
        workers,
        ...(supervision === undefined ? {} : { supervision: supervision as never }),
        ...(broadcastToSender === undefined ? {} : { broadcastToSender }),
        ...(watchdog === undefined ? {} : { watchdog: watchdog as never }),
        ...(peers === undefined ? {} : { peers: peers as never }),
        ...(journal && { journal: { path: SIMULATED_PATH, ...journal } }),
      },
    );
    const team = await embed(system, host.seams);
    this.team = team;
    return team;
  }

  /** Boots a thread. */
  async boot(thread: VirtualThread, boot: ThreadBoot, port: Port, spawner: Spawner): Promise<void> {
    const { outside, disk, watch } = this.#deps;
    const { policies, interceptors, agents } = this.#given;
    const { among } = this.#options;
    await becomeThread(boot, port, {
      spawner,
      seams: thread.seams,
      loop: thread.loop,
      // Imported above, because loading takes real time.
      loadPlaces: async () => bootPlaces,
      loadControl: async () => controls,
      placeDeps: async () => ({
        policies,
        interceptors,
        inline: agents.definitions,
        outside: { ...outside.of(thread), ...(among && { transport: among.transportsOf(thread) }) },
        makeActor: (cell) => new WatchedActor(cell, watch),
      }),
      openStore: () => this.#openStore(thread),
      ...(disk && { rings: disk.rings }),
      onStray: (report) => {
        thread.onStray = report;
      },
      onPlace: (host) => {
        this.#watchPlace(thread, host);
        watch.placed(thread);
      },
      onControlEvent: (event) => watch.record(event),
    });
  }

  /** Whether a thread has loaded all its agents. A thread that dies while it loads one would mark the agent as broken. */
  hasLoaded(thread: VirtualThread): boolean {
    const node = this.hosts.get(thread)?.node;
    if (node === undefined) return false;
    for (const row of node.table.rows()) {
      if (row.place !== node.id) continue;
      if (node.cellOf(row.slot) === undefined) return false;
    }
    return true;
  }

  /** Whether nothing is in flight, no agent restarts, and every place is up. */
  get isQuiet(): boolean {
    if (this.ledger.outcomes !== this.ledger.totals.accepted) return false;
    const { nowMs } = this.#deps.scheduler;
    if (this.threads.some(({ frozenUntilMs }) => frozenUntilMs > nowMs)) return false;
    for (const { node } of this.hosts.values()) {
      if (!node.isIdle) return false;
      for (const { status } of node.cells()) if (status === 'starting' || status === 'down') return false;
    }
    return this.#areAllUp;
  }

  /** The ids of its agents. */
  get agentIds(): ReadonlySet<string> {
    return new Set(
      [...this.hosts.values()].flatMap(({ node }) => [...node.cells()].map(({ row }) => row.id)),
    );
  }

  *clients(): Iterable<AgentClient> {
    for (const { node } of this.hosts.values())
      for (const cell of node.cells()) if (cell.hasClient) yield cell.client;
  }

  async finalState(): Promise<FinalState> {
    const team = this.team as Team;
    return {
      conservation: await team.conservation(),
      deadLetters: await team.deadLetters(),
      roster: await team.roster(),
    };
  }

  async stop(): Promise<void> {
    await this.team?.stop({ drainMs: 0 });
  }

  /** Ends all its threads, between two steps. */
  kill(): void {
    for (const thread of this.threads) this.#deps.scheduler.end(thread);
  }

  /** Whether every place has a living thread. */
  get #areAllUp(): boolean {
    const living = new Set([...this.hosts.values()].map(({ node }) => node.id));
    return this.threads.every(({ placeId }) => placeId === undefined || living.has(placeId));
  }

  async #openStore(thread: VirtualThread): Promise<Store> {
    const { disk } = this.#deps;
    if (disk === undefined) throw invalidOptions('journal', undefined, 'one, where a store is opened');
    return disk.open(thread);
  }

  #watchPlace(thread: VirtualThread, host: ThreadHost): void {
    const { watch } = this.#deps;
    const { node } = host;
    thread.placeId = node.id;
    this.hosts.set(thread, host);
    this.ledger.add(node);
    thread.onOver.push(() => {
      this.hosts.delete(thread);
      this.ledger.remove(node);
    });
    node.log.watch((event, mail) => {
      watch.record(event);
      if (event.type === 'envelope-settled' && mail !== undefined) this.#settled(node, mail, event.outcome);
    });
  }

  #settled(node: ThreadNode, mail: Mail, outcome: Outcome | undefined): void {
    this.ledger.settled(node, mail);
    this.#deps.watch.settled(mail, node.id, outcome);
  }
}
