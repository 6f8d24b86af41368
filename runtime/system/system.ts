import type { MachineDrawing } from '../protocol/machine-drawing.ts';
import type { AgentClient } from '../cell/interceptor.ts';
import type { Sender } from '../agent/context.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import type { Conservation } from '../protocol/conservation.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import type { Budget } from '../protocol/budget.ts';
import type { RoutingConfig } from '../protocol/routing-config.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';
import type { InspectOptions } from '../protocol/inspect-options.ts';
import type { RosterOptions, RosterRow } from '../protocol/roster.ts';
import type { AgentRegistry } from '../routing/agent-registry.ts';
import type { JournalRecords } from './journal-records.ts';
import type { Account } from './account.ts';
import type { SystemChannels } from './system-channels.ts';
import type { SystemPeers } from './system-peers.ts';
import type { AgentSpec } from './system-options.ts';
import type { Upgrading } from './upgrading.ts';

/** Sends as `system/loop`. `client`: where interceptors act for the loop; from the first call on agents can write to it. */
export interface LoopSender extends Sender {
  client(): Promise<AgentClient>;
}

/** A running team. Sends as `system/host`. */
export interface System extends Sender, Upgrading, AsyncDisposable {
  /**
   * Who is registered, as this thread knows it: reads answer at once, writes are valid here at once and reach the other
   * threads in the order that the control thread gives them. Ending an agent's registration stops the agent.
   */
  readonly registry: AgentRegistry;
  /**
   * Opens one budget for many envelopes: what the account is asked and told to send, and all that this causes, spends from
   * it, and it knows what was spent. A budget for one envelope alone is an option of `ask`. Throws INVALID_OPTIONS.
   */
  openAccount(budget: Budget): Account;
  /** Of a loop that works with the team, whose name is `system/loop`; agents answer it, and write to it by `onReceive`. */
  readonly loop: LoopSender;
  /** Other nodes, with which this one works as one team. */
  readonly peers: SystemPeers;
  /** Channels to agents of the system, whose other end is in this thread. */
  readonly channels: SystemChannels;
  /** Starts more agents; resolves and fails as `startSystem` does. */
  start(agents: readonly AgentSpec[]): Promise<void>;
  /**
   * Hands every envelope for a registered agent that nobody hosts to `handler`, in this thread, until the returned
   * function is called. What `handler` returns answers a request. So does it with what is sent to `system/loop`, but for
   * what the loop's negotiator and swarms have: from the first call on agents can write to that, and while nobody receives
   * it is REFUSED. Fails with AGENT_NOT_FOUND.
   */
  onReceive(agentId: string, handler: (envelope: A2AEnvelope) => unknown): Promise<() => Promise<void>>;
  /** Where interceptors act for the embedder, as `system/host`; from the first call on agents can write to it. */
  client(): Promise<AgentClient>;
  /** Replaces the tier table or the sandbox lists, in every thread. */
  configure(config: RoutingConfig): Promise<void>;
  /** Routes an envelope made elsewhere (`EnvelopeFactory`); tier and sandbox come from its sender's registered card. */
  send(envelope: A2AEnvelope): Promise<RoutingResult>;
  /** Every agent with its place, mailbox and restarts. */
  roster(options?: RosterOptions): Promise<readonly RosterRow[]>;
  /** The state machines of the agents whose logic is one, as far as it runs in a thread of this process: to be drawn. */
  machines(): Promise<readonly MachineDrawing[]>;
  /** The last events of every thread in time order; with a journal also security events that it keeps of former processes. */
  recentEvents(limit?: number): Promise<readonly SystemEvent[]>;
  /**
   * Calls `listener` with every event from now on. The returned function ends that: it resolves when the listener has been
   * called with all that was before, of threads that get on, and is called no more. A listener that fails ends nothing: its
   * first failure is a warning of the process.
   *
   * With a limit, each thread tells about so many events a second, whole conversations as far as it can; how many it has left
   * out it tells by events `events-left-out`. Of several listeners all get what the one gets that wants most.
   */
  inspect(listener: (event: SystemEvent) => void, options?: InspectOptions): Promise<() => Promise<void>>;
  /** The envelopes of one conversation, in timestamp order, as far back as the bounded rings and the journal reach. */
  thread(correlationId: string): Promise<readonly A2AEnvelope[]>;
  deadLetters(): Promise<readonly DeadLetter[]>;
  conservation(): Promise<Conservation>;
  /** Prometheus text exposition. */
  metrics(): Promise<string>;
  /**
   * Resolves when everything that was sent so far to durable agents survives the end of the process and the loss of
   * power; at once in a system without a journal.
   */
  whenKept(): Promise<void>;
  /** What the embedder keeps in the journal. */
  readonly records: JournalRecords;
  /** Ends one agent; what waits for it is dead-lettered. */
  stopAgent(agentId: string): Promise<void>;
  /** Starts an agent that failed or stopped again; resolves when it has been started, or has failed to. */
  restart(agentId: string): Promise<void>;
  /** Ends a worker thread, or the process of an agent, from outside; its agents are restarted and none is charged. */
  terminate(place: string): Promise<void>;
  /** Drains (at most `drainMs`, default 1_000), stops every agent, and leaves no thread, socket or timer behind. */
  stop(options?: { drainMs?: number }): Promise<void>;
}
