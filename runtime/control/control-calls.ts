import type { MachineDrawing } from '../protocol/machine-drawing.ts';
import type { z } from 'zod';
import type { CpuPoolOptions } from '../agent/offload.ts';
import type { JournalThreadOptions } from '../journal/journal-thread.ts';
import type { JournalOptions } from '../journal/journal-options.ts';
import type { EventLimits } from '../observe/event-limits.ts';
import type { SystemMeasures } from '../observe/measures.ts';
import type { Conservation } from '../protocol/conservation.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import type { ErrorData } from '../protocol/errors.ts';
import type { PeerBoot } from '../peers/peer-boot.ts';
import type { Trust } from '../peers/trust.ts';
import type { AgentEndpoint } from '../protocol/agent-card.ts';
import type { PeerRow } from '../protocol/peer-row.ts';
import type { RefusedPeer } from '../protocol/refused-peer.ts';
import type { RosterRow } from '../protocol/roster.ts';
import type { RoutingConfig } from '../protocol/routing-config.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { TableDelta } from '../routing/routing-table.ts';
import type { ProgressLimits } from '../supervision/progress-watch.ts';
import type { Supervision, WatchdogLimits } from '../supervision/supervisor-options.ts';
import type { NodeBoot, NodePeers } from '../thread/thread-node.ts';
import type { AgentOrder } from './enrolment.ts';
import type { ThreadMemories } from './thread-incarnation.ts';
import type { Upgraded, UpgradeOrder } from './upgrades.ts';

/** How the embedder wants the system to run, as far as the control thread sees to it. */
export interface ControlOptions {
  readonly workers: number;
  readonly broadcastToSender: boolean;
  readonly spareThread: boolean;
  readonly cpu: CpuPoolOptions;
  readonly supervision: Supervision;
  readonly watchdog: WatchdogLimits;
  readonly starting: ProgressLimits;
  readonly events: EventLimits;
  /** The embedder's thread writes a log. */
  readonly isLogged: boolean;
  readonly peers: NodePeers | undefined;
  /** Without one nothing outlives the process. */
  readonly journal: z.output<typeof JournalOptions> | undefined;
}

/** What a thread is started as. All that follows comes on the port between it and whoever started it. */
export type ThreadBoot =
  | { readonly role: 'place'; readonly boot: NodeBoot; readonly workerOptions: unknown }
  /** Gets ready to be a place, and becomes one by the first message on its port: the boot data of that place. */
  | { readonly role: 'spare-place'; readonly workerOptions: unknown }
  /** Gets ready to be the control thread, and becomes it in the same way. */
  | { readonly role: 'spare-control' }
  | {
      readonly role: 'journal';
      readonly options: JournalThreadOptions;
      readonly accounts: SharedArrayBuffer;
    }
  | ControlBoot;

/** What the control thread is started with. */
export interface ControlBoot {
  readonly role: 'control';
  readonly options: ControlOptions;
  /** What a worker needs to make its policies, passed on as it is. */
  readonly workerOptions: unknown;
  readonly hostIncarnation: ThreadMemories;
  /** The open budgets of the whole system. */
  readonly accounts: SharedArrayBuffer;
  /** A word for each agent of the system, as `AgentStatusMemory` has it. */
  readonly agentStatus: SharedArrayBuffer;
  /** A number that this thread changes while it lives; the embedder's thread watches it. */
  readonly beat: SharedArrayBuffer;
}

/** An agent that was not started because its options are wrong; `at`: which order it was of. */
export interface WrongStart {
  readonly agentId: string;
  readonly at: number;
  readonly fault: ErrorData;
}

/** All that the embedder's thread may call in the control thread. */
export interface ControlCalls {
  /** Opens the journal, before anything else is called. */
  boot(): Promise<void>;
  /**
   * Starts agents. Resolves when each has been started once or waits for its first envelope: to those whose start has found
   * that their options are wrong.
   */
  start(orders: readonly AgentOrder[]): Promise<readonly WrongStart[]>;
  /** Orders a write of the host's registry among all others and tells every thread. */
  announce(delta: TableDelta): Promise<void>;
  /** Starts a stopped or failed agent again; resolves when it has been started once. */
  restart(id: string): Promise<void>;
  /** Gives an agent other code while it runs. */
  upgrade(id: string, order: UpgradeOrder): Promise<Upgraded>;
  /** Has a parked agent go on. */
  resume(id: string, order: UpgradeOrder): Promise<void>;
  /** Ends one agent; resolves when it is gone. */
  stopAgent(id: string): Promise<void>;
  /** Ends a worker thread, or the process of an agent, from outside; resolves when its successor is up. */
  terminate(id: string): Promise<void>;
  /** Resolves when every thread that answers judges by it. */
  configure(config: RoutingConfig): Promise<void>;
  /** Resolves when every thread that answers streams its events, so many a second at most, or has stopped to. */
  inspect(isOn: boolean, eventsPerSecond?: number): Promise<void>;
  /** Resolves when every thread that answers has told all its events so far, and the embedder's thread has seen them. */
  tellEvents(): Promise<void>;
  /** What all threads had reported when it was asked for is in it; `withActors`: and the actors of each agent. */
  roster(withActors?: boolean): Promise<RosterRow[]>;
  /** The agents' own state machines. */
  machines(): Promise<readonly MachineDrawing[]>;
  /** Of what is remembered beyond this process about `limit`. */
  recentEvents(limit: number): Promise<readonly SystemEvent[]>;
  thread(correlationId: string): Promise<readonly A2AEnvelope[]>;
  deadLetters(): readonly DeadLetter[];
  conservation(): Promise<Conservation>;
  /** What is measured of all threads, for the metrics. */
  measures(): Promise<SystemMeasures>;
  /** Resolves when what was sent before, from anywhere, to durable recipients is kept. */
  whenKept(): Promise<void>;
  /** Has a thread of its own speak with other nodes. Resolves to where they find it. Fails with INVALID_OPTIONS. */
  openPeers(boot: PeerBoot): Promise<readonly AgentEndpoint[]>;
  /** The other nodes. */
  peers(): Promise<readonly PeerRow[]>;
  /** Who was not let in lately. */
  refusedPeers(): Promise<readonly RefusedPeer[]>;
  dialPeer(endpoint: AgentEndpoint): Promise<void>;
  /** Lets in whoever has this key, judged as the entry says. */
  trustPeer(entry: Trust): Promise<void>;
  /** Cuts off whoever has this key, and lets them in no more. */
  revokePeer(publicKey: string): Promise<void>;
  /** Waits until nothing is in hand or waits, at most `drainMs`; then ends every agent and thread. */
  stop(drainMs: number): Promise<void>;
}
