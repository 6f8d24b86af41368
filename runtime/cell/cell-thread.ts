import type { Accounts } from '../budget/accounts.ts';
import type { Link } from '../link/link.ts';
import type { Outbox } from '../link/outbox.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { NodeLog } from '../observe/node-log.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import type { ErrorData } from '../protocol/errors.ts';
import type { Verdict } from '../protocol/policy.ts';
import type { Seams } from '../protocol/seams.ts';
import type { Outcome } from '../protocol/system-event.ts';
import type { Taint } from '../protocol/taint.ts';
import type { AgentStatusMemory } from '../routing/agent-status-memory.ts';
import type { MailJudge } from '../routing/mail-judge.ts';
import type { AgentOffer } from '../routing/offered-profile.ts';
import type { RoutingTable } from '../routing/routing-table.ts';
import type { DiedOver } from '../supervision/supervisor.ts';
import type { OutsideCalls } from '../agent/outside.ts';
import type { RunningCode } from '../mailbox/status-words.ts';
import type { AgentMemories } from './cell-taint.ts';
import type { AskTable } from './waiting-asks.ts';
import type { Interceptors } from './interceptors.ts';
import type { Cancellations } from './cancellations.ts';
import type { Cell } from './cell.ts';
import type { CellChannels } from './cell-channels.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Funding } from './funding.ts';
import type { MailSender } from './mail-sender.ts';
import type { SettleStep } from './settle-step.ts';
import type { StreamWindows } from './stream-windows.ts';
import type { TimerWheel } from './timer-wheel.ts';
import type { TurnLoop } from './turn-loop.ts';

/** What a cell needs of the thread that hosts it. A running system has a `ThreadNode`. */
export interface CellThread {
  readonly id: string;
  readonly incarnation: number;
  readonly seams: Seams;

  /** Who is where, and who may reach whom. */
  readonly table: RoutingTable;
  readonly judge: MailJudge;
  /** Whether each agent of the system can take mail, and its load. */
  readonly agentStatus: AgentStatusMemory;

  /** What leaves the thread. */
  readonly mailSender: MailSender;
  readonly outbox: Outbox;
  readonly links: LinksOfThread;
  readonly answers: AnswersOfThread;
  /** What envelopes may spend. */
  readonly accounts: Accounts;
  readonly funding: Funding;

  /** What goes on in the thread. */
  readonly turns: TurnLoop;
  readonly wheel: TimerWheel;
  readonly asks: AskTable;
  readonly windows: StreamWindows;
  readonly channels: CellChannels;
  readonly cancellations: Cancellations;

  /** What its agents keep. */
  readonly checkpoints: Checkpoints;
  readonly memories: AgentMemories;
  readonly interceptors: Interceptors;
  /** What outlives the process, in a system with a journal. */
  readonly journal: JournalOfThread | undefined;

  /** Whose code runs here. */
  readonly running: RunningCode;
  /** What its agents reach outside the system. */
  readonly outside: OutsideCalls;

  readonly supervisor: CellSupervisor;
  readonly log: NodeLog;

  /** The outcome of an envelope is known. `cell` had it. */
  settle(mail: Mail, outcome: Outcome, cell: Cell): void;
  /** Cancels an envelope that was sent from here, and everything it caused, wherever that is. */
  cancel(envelopeId: string): void;
}

/** What a cell tells its supervisor, and is started by. */
export interface CellSupervisor {
  /** Starts the cell, with the state that a former thread or process left for it, if there is such. */
  start(cell: Cell): void;
  /**
   * `taint`: where what the error says came from outside; `over`: the envelope that it died over; `fault`: what of its options
   * its start has found wrong.
   */
  crashed(
    cell: Cell,
    error: unknown,
    taint: Taint | undefined,
    more?: { readonly over?: DiedOver | undefined; readonly fault?: ErrorData | undefined },
  ): void;
  exited(cell: Cell, over: DiedOver | undefined): void;
  /** The agent says what it offers from now on. */
  offers(cell: Cell, offer: AgentOffer): void;
  /** The code of the cell's agent runs in this process now; undefined when it could not be started. */
  hasProcess(cell: Cell, pid: number | undefined): void;
}

/** The ways to the other threads. */
export interface LinksOfThread {
  to(place: string): Link | undefined;
  ofIncarnation(incarnation: number): Link | undefined;
  /** Takes what has come and nobody has listened to yet. */
  readArrived(): void;
}

/** Takes answers to whoever asked and, the other way, how much more of a stream is wanted. */
export interface AnswersOfThread {
  give(
    mail: Mail,
    kind: number,
    payload: unknown,
    carries: 'json' | 'structured' | undefined,
    taint?: Taint,
  ): void;
  pull(ask: number, link: Link | undefined, count: number): void;
}

/** What the journal is told of cells, and what it says of them. */
export interface JournalOfThread extends SettleStep {
  /** The system stops: what goes on goes on in the next process. */
  readonly isLeft: boolean;
  readonly states: StatesOfThread;
  /** The agent takes nothing new at present: what it did could not be kept. */
  holds(row: AgentRow): boolean;
  /** Why nothing can be sent to this agent at present: it could not be kept. */
  refusal(row: AgentRow): Verdict | undefined;
  /** The handling of a mail begins: of one that is kept that is known, whatever becomes of the process. */
  begins(cell: Cell, mail: Mail): void;
  /** The agent does not remember any more that it took this. */
  forget(cell: Cell, sender: string, id: string): void;
}

/** The states of durable agents. */
export interface StatesOfThread {
  changed(cell: Cell): void;
  forget(cell: Cell): void;
}
