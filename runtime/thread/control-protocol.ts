import type { LoadedAgent } from '../agent/loaded-agent.ts';
import type { ProcessOptions } from '../agent/process-options.ts';
import type { Checkpoint } from '../cell/checkpoints.ts';
import type { MailData } from '../mailbox/mail.ts';
import type { LogLine } from '../observe/logger.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { EventReport } from '../observe/event-report.ts';
import type { ThreadMeasures } from '../observe/measures.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import type { ErrorData, LastError } from '../protocol/errors.ts';
import type { ProcessAgent } from '../agent/agent-description.ts';
import type { RoutingConfig } from '../protocol/routing-config.ts';
import type { MachineDrawing } from '../protocol/machine-drawing.ts';
import type { ActorRow } from '../protocol/roster.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import type { Taint } from '../protocol/taint.ts';
import type { AgentOffer } from '../routing/offered-profile.ts';
import type { RemoteQuery } from '../routing/remote-lookup.ts';
import type { TableChange, TableDelta } from '../routing/routing-table.ts';
import type { Refusal } from '../supervision/outsiders.ts';
import type { DiedOver } from '../supervision/supervisor.ts';
import type { JournalAccess } from '../journal/journal-thread.ts';
import type { PeerBoot } from '../peers/peer-boot.ts';
import type { PeerOrder } from '../peers/peer-host.ts';
import type { Trust } from '../peers/trust.ts';
import type { PeerRow } from '../protocol/peer-row.ts';
import type { RefusedPeer } from '../protocol/refused-peer.ts';
import type { AgentEndpoint } from '../protocol/agent-card.ts';

/** Which envelope a death is charged to; it alone counts as an attempt. */
export interface Charge {
  readonly incarnation: number;
  readonly flow: number;
  readonly sequence: number;
}

/** A thread was replaced: what its mail is to be told. */
export interface ThreadDeath {
  readonly reason: string;
  readonly taint?: Taint;
  readonly charge: Charge | undefined;
}

/** A mail whose ledger died with its thread, or what is left of it. */
export interface Replay {
  readonly incarnation: number;
  readonly flow: number;
  readonly slot: number;
  readonly lane: number;
  readonly slab: SharedArrayBuffer;
  readonly mails: readonly MailData[];
}

/**
 * An agent runs this module from now on.
 *
 * - `resumed` it is parked: what it begins with.
 * - `graceMs` how long what it has in hand may take.
 * - `isFresh` its state is not handed on.
 */
export interface ChangeOrder {
  readonly t: 'change';
  readonly ref: number;
  readonly slot: number;
  readonly module: string;
  readonly process: ProcessAgent | undefined;
  readonly resumed: { readonly snapshot: Snapshot | undefined } | undefined;
  readonly graceMs: number;
  readonly isFresh: boolean;
}

/** What the control thread tells a place, one way. */
export type ControlOrder =
  | { readonly t: 'table'; readonly delta: TableDelta }
  /** The answer to `table-wanted`. */
  | { readonly t: 'whole-table'; readonly delta: TableDelta }
  /** The answer to `look-up`: the table that was sent before has whoever was found. */
  | { readonly t: 'looked-up'; readonly query: RemoteQuery }
  /** The system stops: nothing new is taken. */
  | { readonly t: 'drain' }
  | { readonly t: 'config'; readonly config: RoutingConfig }
  | {
      readonly t: 'link';
      readonly place: string;
      readonly incarnation: number;
      readonly port: unknown;
      readonly credit: SharedArrayBuffer;
      readonly side: 0 | 1;
      /** The place's former thread is dead. */
      readonly death: ThreadDeath | undefined;
    }
  | { readonly t: 'unlink'; readonly place: string }
  | {
      readonly t: 'host';
      readonly ref: number;
      /** Their rows, which the others do not know yet. */
      readonly change: TableChange;
      /** `broken` says why a module is not even tried; the code of one with a `process` is not loaded here. */
      readonly agents: readonly {
        readonly id: string;
        readonly module: string;
        readonly broken: string | undefined;
        readonly process: ProcessAgent | undefined;
      }[];
      /** They lived in the place's former thread: one whose module does not load any more fails when it is started. */
      readonly isAgain: boolean;
    }
  | ChangeOrder
  /** They wait with a state for code that can go on with it. */
  | { readonly t: 'park'; readonly slots: readonly number[] }
  | { readonly t: 'start'; readonly slots: readonly number[] }
  | { readonly t: 'halt'; readonly slots: readonly number[] }
  | { readonly t: 'stop'; readonly slots: readonly number[] }
  /** They are registered no more: each is ended, and nothing is kept of it. */
  | { readonly t: 'forget'; readonly slots: readonly number[] }
  | { readonly t: 'events'; readonly events: readonly SystemEvent[] }
  /** A line for the log that the embedder writes. */
  | { readonly t: 'logged'; readonly line: LogLine }
  /** Ends the process of an agent from outside. */
  | { readonly t: 'end-process'; readonly slot: number }
  /** The agent takes nothing of these outsiders for so long. */
  | { readonly t: 'refuse'; readonly slot: number; readonly refusals: readonly Refusal[] }
  | { readonly t: 'give-up'; readonly slot: number; readonly last: LastError }
  | { readonly t: 'replay'; readonly replays: readonly Replay[] }
  /** What envelopes of its agents kept in the place's former thread. */
  | { readonly t: 'checkpoints'; readonly kept: readonly Checkpoint[] }
  /** Mail for durable recipients is kept from here on. */
  | { readonly t: 'journal'; readonly access: JournalAccess }
  /** Agents of other nodes have joined the team, or `problem` says why not. */
  | { readonly t: 'enrolled'; readonly modules: readonly string[]; readonly problem: string | undefined }
  | { readonly t: 'inspect'; readonly isOn: boolean; readonly eventsPerSecond?: number | undefined };

/** What a place tells the control thread, one way. */
export type NodeReport =
  | {
      readonly t: 'flow-slab';
      readonly incarnation: number;
      readonly index: number;
      readonly memory: SharedArrayBuffer;
    }
  | { readonly t: 'name-slab'; readonly incarnation: number; readonly memory: SharedArrayBuffer }
  | { readonly t: 'kept'; readonly kept: readonly { incarnation: number; flow: number; mail: MailData }[] }
  | { readonly t: 'checkpoint'; readonly kept: Checkpoint }
  | EventReport
  /** The thread of `incarnation` is gone; `flows` lists those that it had introduced here, and the last sequence of each. */
  | {
      readonly t: 'received-all';
      readonly incarnation: number;
      readonly flows: readonly (readonly [number, number])[];
    }
  /** Deltas did not reach this place. */
  | { readonly t: 'table-wanted' }
  /** Somebody is not known here: other nodes are to be asked. */
  | { readonly t: 'look-up'; readonly query: RemoteQuery }
  /** The code of agents that it was told to host is here; what they kept is not yet. */
  | { readonly t: 'loaded'; readonly ref: number }
  | { readonly t: 'hosted'; readonly ref: number; readonly error: ErrorData | undefined }
  /** The answer to `change`: `changed` or, when the agent has the code that it had, `error`. */
  | {
      readonly t: 'changed';
      readonly ref: number;
      readonly changed:
        | { readonly outcome: 'running' | 'later' }
        | { readonly outcome: 'parked'; readonly snapshot: Snapshot; readonly why: ErrorData }
        | undefined;
      readonly error: ErrorData | undefined;
    }
  | { readonly t: 'ended'; readonly slot: number }
  | { readonly t: 'started'; readonly slot: number }
  /** `charged`: nothing outside the agent ended it; `over`: the envelope that it died over. */
  | ({
      readonly t: 'crashed';
      readonly slot: number;
      readonly charged: boolean;
      readonly over: DiedOver | undefined;
      /** Its start has found that one of its options is wrong. */
      readonly fault: ErrorData | undefined;
    } & LastError)
  /** It cannot go on with the state that a former thread or process left: it waits with it for other code. */
  | { readonly t: 'parked'; readonly slot: number; readonly snapshot: Snapshot; readonly why: ErrorData }
  /** The code of the agent runs in this process. */
  | { readonly t: 'process'; readonly slot: number; readonly pid: number | undefined }
  | { readonly t: 'exited'; readonly slot: number; readonly over: DiedOver | undefined }
  /** It says what it offers from now on. */
  | { readonly t: 'offers'; readonly slot: number; readonly offer: AgentOffer }
  /** Agents of other nodes are to join the team. */
  | { readonly t: 'enrol'; readonly orders: readonly PeerOrder[] }
  /** Agents of other nodes are no more. */
  | { readonly t: 'dismiss'; readonly ids: readonly string[] };

/** Counts of one place; `inFlight` is counted in its mailboxes and ledgers. */
export interface NodeStats {
  readonly inFlight: number;
  /** Accepted by former processes, and still in the journal. */
  readonly left: number;
  readonly isIdle: boolean;
}

/** All that the control thread may call in a place. Every order that was given before a call is obeyed when it is answered. */
export interface NodeCalls {
  /** Answers: what was ordered before is done. */
  ping(): void;
  /** Imports an agent module, here or in a process of its own. Fails with MODULE_INVALID naming it. */
  load(module: string, process?: ProcessOptions): Promise<LoadedAgent>;
  stats(): NodeStats;
  /** Resolves when the other nodes have been asked, and whoever they have is in the table. */
  lookUp(query: RemoteQuery): Promise<void>;
  /** Has this place speak with other nodes. Fails with INVALID_OPTIONS when it cannot listen. Resolves to where others find it. */
  openPeers(boot: PeerBoot): Promise<readonly AgentEndpoint[]>;
  /** The other nodes, as this place knows them. */
  peers(): readonly PeerRow[];
  /** Whom this place has not let in lately. */
  refusedPeers(): readonly RefusedPeer[];
  dialPeer(endpoint: AgentEndpoint): void;
  trustPeer(entry: Trust): void;
  revokePeer(publicKey: string): void;
  /** The accounts of the envelopes that wait here or are in hand. */
  heldAccounts(): readonly number[];
  /** Of the agents that live here, those that have actors, with these. */
  actors(): readonly { readonly id: string; readonly actors: readonly ActorRow[] }[];
  /** The machines of the agents that live here, as far as their code is in this thread. */
  machines(): Promise<readonly MachineDrawing[]>;
  recentEvents(): readonly SystemEvent[];
  /** Resolves when all events so far are told, and count. */
  tellEvents(): Promise<void>;
  measures(): ThreadMeasures;
  /** The envelopes of one conversation that this thread remembers having sent or answered. */
  thread(correlationId: string): readonly A2AEnvelope[];
  /** Gives the agents in these slots what former processes left for them. Resolves when each has the first of it. */
  recover(slots: readonly number[]): Promise<void>;
  /** Resolves when what was sent from here to durable recipients is kept. */
  whenKept(): Promise<void>;
  /** Stops every agent here and lets go of everything. */
  shutdown(): Promise<void>;
  /** All places are shut down: what the last agents sent to those that had ended before them gets its outcome. */
  closeBooks(): Promise<void>;
}
