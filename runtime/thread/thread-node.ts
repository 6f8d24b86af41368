import type { AgentDefinition } from '../agent/agent-definition.ts';
import { AgentMemories } from '../cell/cell-taint.ts';
import type { Interceptors } from '../cell/interceptors.ts';
import { AskTable } from '../cell/waiting-asks.ts';
import { Cancellations, isCausedBy } from '../cell/cancellations.ts';
import { Cell } from '../cell/cell.ts';
import { Funding } from '../cell/funding.ts';
import type { SettleStep } from '../cell/settle-step.ts';
import { CellChannels } from '../cell/cell-channels.ts';
import type { MakeActor } from '../cell/actor-life.ts';
import { Checkpoints } from '../cell/checkpoints.ts';
import { MailSender, type SendingThread } from '../cell/mail-sender.ts';
import { CpuPool, type CpuPoolOptions } from '../agent/offload.ts';
import { type Outside, OutsideCalls } from '../agent/outside.ts';
import { StreamWindows } from '../cell/stream-windows.ts';
import { TimerWheel } from '../cell/timer-wheel.ts';
import { Accounts } from '../budget/accounts.ts';
import type { InFlow } from '../mailbox/in-flow.ts';
import { type Mail, NO_ASK, REPLY } from '../mailbox/mail.ts';
import type { EventLimits } from '../observe/event-limits.ts';
import { NodeLog } from '../observe/node-log.ts';
import type { Outcome } from '../protocol/system-event.ts';
import { latencyBucket } from '../observe/latency.ts';
import { COUNT } from '../observe/thread-counters.ts';
import { outcomeIndex, TRAFFIC } from '../observe/traffic-ring.ts';
import type { ErrorData, OrreryError } from '../protocol/errors.ts';
import type { JudgePolicy } from '../protocol/policy.ts';
import type { Seams, EventLoop } from '../protocol/seams.ts';
import { warnOfStray } from '../protocol/warn-of.ts';
import { AgentStatusMemory } from '../routing/agent-status-memory.ts';
import { Grants } from '../routing/grants.ts';
import { Lookups } from '../routing/lookups.ts';
import { MailJudge } from '../routing/mail-judge.ts';
import { RoutingTable, type TableDelta } from '../routing/routing-table.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import { ThreadRouter } from '../routing/thread-router.ts';
import type { ProgressLimits } from '../supervision/progress-watch.ts';
import type { WatchdogLimits } from '../supervision/supervisor-options.ts';
import { Answers } from './answers.ts';
import { ControlReports } from './control-reports.ts';
import { Commits } from '../link/commits.ts';
import { NodeDelivery } from './node-delivery.ts';
import type { NodeReport } from './control-protocol.ts';
import { Links } from './links.ts';
import { Outbox } from '../link/outbox.ts';
import type { NodeJournal } from './node-journal.ts';
import { RoomWaiters } from '../link/room-waiters.ts';
import { SupervisorProxy } from './supervisor-proxy.ts';
import { RunningCode, STATUS } from '../mailbox/status-words.ts';
import { TurnLoop } from '../cell/turn-loop.ts';

const BEAT_MS = 50;
const SWEEP_MS = 100;

/** `missMs`: how long it is remembered that a lookup found nobody. */
export interface NodePeers {
  readonly missMs: number;
}

/** What a place is started with, as plain data. */
export interface NodeBoot {
  readonly id: string;
  readonly incarnation: number;
  readonly counters: SharedArrayBuffer;
  readonly status: SharedArrayBuffer;
  readonly commitLog: SharedArrayBuffer;
  /** The open budgets of the whole system. */
  readonly accounts: SharedArrayBuffer;
  /** A word for each agent of the system, as `AgentStatusMemory` has it. */
  readonly agentStatus: SharedArrayBuffer;
  readonly table: TableDelta;
  readonly broadcastToSender: boolean;
  readonly cpu: CpuPoolOptions;
  readonly watchdog: WatchdogLimits;
  readonly starting: ProgressLimits;
  readonly events: EventLimits;
  /** Other nodes can be asked for whom nobody here has, by the embedder's thread. @default nobody is asked */
  readonly peers: NodePeers | undefined;
}

export interface ThreadNodeDeps {
  readonly seams: Seams;
  readonly loop: EventLoop;
  /** The rules about who may send what to whom. */
  readonly policies: readonly JudgePolicy[];
  readonly interceptors: Interceptors;
  /** Answers in place of what is outside the system. */
  readonly outside: Outside | undefined;
  readonly tell: (message: NodeReport) => void;
}

/**
 * One thread of the system: the agents that live in it, its links to the other threads, and everything between.
 *
 * The same class runs in every worker, in the embedder's thread, and in a simulation.
 */
export class ThreadNode implements SendingThread {
  readonly id: string;
  readonly incarnation: number;
  readonly seams: Seams;
  readonly table = new RoutingTable();
  readonly counters: Float64Array;
  readonly status: Int32Array;
  readonly wheel: TimerWheel;
  readonly outbox: Outbox;
  readonly asks = new AskTable();
  readonly answers = new Answers(this);
  readonly mailSender: MailSender;
  readonly judge: MailJudge;
  readonly router: ThreadRouter;
  /** Undefined where no other node is asked for anybody. */
  readonly lookups: Lookups | undefined;
  readonly log: NodeLog;
  readonly turns: TurnLoop;
  readonly cancellations = new Cancellations();
  readonly windows: StreamWindows;
  readonly links: Links;
  /** What envelopes may spend. */
  readonly accounts: Accounts;
  /** Whose code runs here. */
  readonly running: RunningCode;
  readonly outside: OutsideCalls;
  readonly supervisor: SupervisorProxy;
  /** Whether each agent of the system can take mail, and its load. */
  readonly agentStatus: AgentStatusMemory;
  readonly checkpoints: Checkpoints;
  /** Who here waits for room in a mailbox. */
  readonly room: RoomWaiters;
  readonly interceptors: Interceptors;
  /** The worker threads in which agents here have things computed. */
  readonly cpu: CpuPool;
  readonly grants: Grants;
  readonly channels: CellChannels = new CellChannels(this);
  readonly memories = new AgentMemories();
  readonly broadcastToSender: boolean;
  readonly funding: Funding;
  #journal: NodeJournal | undefined;
  #settleSteps: readonly SettleStep[];
  readonly #cells: (Cell | undefined)[] = [];
  #stopBeat: () => void = () => {};
  #stopSweep: () => void = () => {};

  constructor(deps: ThreadNodeDeps, boot: NodeBoot) {
    this.id = boot.id;
    this.incarnation = boot.incarnation;
    this.seams = deps.seams;
    const { clock } = deps.seams;
    this.grants = new Grants(clock);
    this.cpu = new CpuPool({ seams: deps.seams }, boot.cpu);
    this.counters = new Float64Array(boot.counters);
    this.status = new Int32Array(boot.status);
    this.broadcastToSender = boot.broadcastToSender;
    this.interceptors = deps.interceptors;
    this.running = new RunningCode(this.status, boot.incarnation);
    this.outside = new OutsideCalls(deps.outside, this.cpu);
    this.supervisor = new SupervisorProxy(this, deps.tell);
    this.accounts = new Accounts(boot.accounts, boot.incarnation);
    this.funding = new Funding(this.accounts);
    this.agentStatus = new AgentStatusMemory(boot.agentStatus);
    this.checkpoints = new Checkpoints(boot.incarnation, (kept) => deps.tell({ t: 'checkpoint', kept }));
    this.#settleSteps = [this.funding, this.checkpoints];
    this.wheel = new TimerWheel(clock);
    this.windows = new StreamWindows(boot.incarnation);
    this.links = new Links(this, deps.loop, (incarnation, flows) => {
      deps.tell({
        t: 'received-all',
        incarnation,
        flows: flows.map(({ flow, received }) => [flow, received]),
      });
      this.channels.threadDied(incarnation);
    });
    this.room = new RoomWaiters({
      clock,
      hasRoom: (row, lane) => this.outbox.hasRoom(row, lane),
      want: (row) => this.links.to(row.place)?.wantRoom(),
    });
    const { table, grants } = this;
    this.judge = new MailJudge({
      table,
      policies: deps.policies,
      grants,
      agentStatus: this.agentStatus,
      clock,
    });
    this.mailSender = new MailSender(this);
    this.log = new NodeLog(
      {
        place: this,
        clock,
        counters: this.counters,
        partyOf: (id) => this.judge.partyOf(id),
        outlet: {
          planFlush: () => this.outbox.planFlush(),
          tell: (report) => deps.tell(report),
          keepLetter: (mail, letter) => this.journal?.keepLetter(mail, letter),
        },
      },
      boot.events,
    );
    this.router = new ThreadRouter({
      table,
      clock,
      want: () => deps.tell({ t: 'table-wanted' }),
      watch: this.log.stepsOf(),
      onState: (state) => this.log.note({ type: 'router-state', timestamp: clock.now(), reason: state }),
    });
    this.lookups =
      boot.peers &&
      new Lookups({
        clock,
        missMs: boot.peers.missMs,
        table,
        want: (query) => deps.tell({ t: 'look-up', query }),
      });
    this.turns = new TurnLoop({
      clock,
      loop: deps.loop,
      flush: () => this.outbox.flush(),
      hasUndelivered: () => this.outbox.undelivered > 0,
    });
    this.outbox = new Outbox({
      place: this,
      links: this.links,
      delivery: new NodeDelivery(this),
      commits: new Commits({ place: this, memory: boot.commitLog, log: this.log }),
      control: new ControlReports(boot.incarnation, deps.tell),
      loop: {
        defer: (run) => deps.loop.defer(run),
        setTimer: (ms, run) => clock.setTimer(ms, run),
      },
    });
    this.router.replace(boot.table);
    this.#beat();
    this.#sweep();
  }

  /** What outlives the process, in a system with a journal. */
  get journal(): NodeJournal | undefined {
    return this.#journal;
  }

  keepIn(journal: NodeJournal): void {
    this.#journal = journal;
    this.#settleSteps = [...this.#settleSteps, journal];
  }

  // Cells

  /** Whose mailbox the envelope came into. */
  readonly agentOf = (mail: Mail): string => this.#cells[mail.flow?.slot ?? -1]?.row.id ?? mail.recipient;

  host(row: AgentRow, definition: AgentDefinition<unknown>, makeActor?: MakeActor): Cell {
    const cell = new Cell(this, row, definition, makeActor);
    this.#cells[row.slot] = cell;
    return cell;
  }

  cellOf(slot: number): Cell | undefined {
    return this.#cells[slot];
  }

  *cells(): Iterable<Cell> {
    for (const cell of this.#cells) if (cell !== undefined) yield cell;
  }

  /** Ends the agent in a slot, which nobody is given again, and keeps nothing of it. */
  async forget(slot: number): Promise<Cell | undefined> {
    const cell = this.#cells[slot];
    await cell?.stop();
    this.#cells[slot] = undefined;
    if (cell !== undefined) this.#journal?.dismissed(cell);
    return cell;
  }

  // Cancellation

  /** Cancels an envelope that was sent from here, and everything it caused, wherever that is. */
  cancel(envelopeId: string): void {
    for (const link of this.links.all()) {
      this.outbox.touch(link);
      link.sendCancel(envelopeId);
    }
    this.noteCancelled(envelopeId);
  }

  /** An envelope is cancelled: whatever is in hand here of it, or was caused by it, is cut off, and what comes later is known. */
  noteCancelled(envelopeId: string): void {
    const { turns } = this;
    const reason = this.cancellations.add(envelopeId);
    turns.watchYoung();
    // The asker may be told in the middle of the handler, which nobody watches yet, and cancel it then.
    const onStack = this.#cells[this.running.slot];
    if (onStack !== undefined) turns.watch(onStack);
    for (const cell of turns.busy) {
      for (const handling of cell.handlings)
        if (isCausedBy(handling.mail as Mail, envelopeId)) handling.cutOff(reason);
    }
  }

  // What is seen

  /** The outcome of an envelope is known. `cell` had it; undefined where its recipient is not hosted here any more. */
  settle(mail: Mail, outcome: Outcome, cell?: Cell): void {
    const flow = mail.flow as InFlow;
    this.outbox.forgetName(mail);
    flow.settle(mail.sequence, outcome);
    // Most have nothing that any feature has to do with.
    if (mail.extras !== undefined || mail.kept > 0 || this.checkpoints.isUsed)
      for (const step of this.#settleSteps) step.settle(mail, cell);
    this.outbox.touchIn(flow);
    const { nowMs } = this.turns;
    this.#countLatency(Math.max(0, nowMs - mail.timestamp));
    this.log.traffic.note(TRAFFIC.settled, mail, nowMs, outcomeIndex(outcome));
  }

  #countLatency(ms: number): void {
    const { counters } = this;
    const bucket = COUNT.latencyBuckets + latencyBucket(ms);
    counters[COUNT.latencyMs] = (counters[COUNT.latencyMs] as number) + ms;
    counters[bucket] = (counters[bucket] as number) + 1;
  }

  /** Ends an envelope whose recipient is not hosted here any more. */
  refuseUnheld(mail: Mail, why: ErrorData): void {
    // Whoever gets its last answer finds what was not spent on it where it came from.
    this.funding.settle(mail);
    if (mail.ask !== NO_ASK) this.answers.give(mail, REPLY.error, why, 'json');
    this.settle(mail, 'rejected');
    this.log.deadLetter(mail, mail.recipient, why);
  }

  /** An error that nobody caught: it ends the one actor that had something in hand, or is a warning. */
  noteStray(error: unknown): void {
    const { turns } = this;
    turns.watchYoung();
    const [suspect] = turns.busy;
    this.log.error(suspect?.row.id ?? this.id, error);
    if (suspect !== undefined && turns.busy.size === 1) suspect.crash(error, suspect.handlings.at(-1));
    else warnOfStray(this.id, error);
  }

  // Life

  #beat(): void {
    this.status[STATUS.beat] = ((this.status[STATUS.beat] as number) + 1) | 0;
    this.#stopBeat = this.seams.clock.setTimer(BEAT_MS, () => this.#beat());
  }

  /** Posts what waited for credit too long, and lets go of what is settled, also when nothing is sent. */
  #sweep(): void {
    this.outbox.flush();
    this.outbox.trim();
    this.journal?.history?.collect();
    this.router.sweep(this.seams.clock.now());
    this.lookups?.sweep(this.seams.clock.now());
    for (const flow of this.links.orphans) if (flow.isSettled) this.links.orphans.delete(flow);
    this.#stopSweep = this.seams.clock.setTimer(SWEEP_MS, () => this.#sweep());
  }

  /** Counted, not computed: what lies in this thread's ledgers and, of flows without one, in its mailboxes. */
  countInFlight(): number {
    const { outbox, links } = this;
    const isHeldHere = (flow: InFlow | undefined): boolean =>
      flow !== undefined && (flow.incarnation === -1 || links.orphans.has(flow));
    let count = outbox.trim() + outbox.undelivered;
    for (const link of links.all()) count -= link.queued;
    for (const cell of this.cells()) for (const mail of cell.mails()) if (isHeldHere(mail.flow)) count += 1;
    for (const flow of outbox.localFlows()) count += flow.uncommitted;
    for (const flow of links.orphans) count += flow.uncommitted;
    return count;
  }

  /** Nothing is in hand, waits, or waits for an answer, for room, for the table or for a lookup. */
  get isIdle(): boolean {
    if (this.journal?.isIdle === false) return false;
    if (this.outbox.awaited > 0) return false;
    if (!this.turns.isIdle || this.asks.size > 0 || this.room.size > 0 || this.router.held > 0) return false;
    if (this.lookups !== undefined && this.lookups.held > 0) return false;
    for (const cell of this.cells()) {
      if (cell.inHand > 0 || (cell.status === 'running' && cell.waiting > 0)) return false;
    }
    return true;
  }

  /** Fails what waits and lets go of every timer and port. */
  close(error: OrreryError): void {
    this.router.stop(error);
    this.lookups?.stop(error);
    this.#stopBeat();
    this.#stopSweep();
    this.channels.close(error);
    for (const [ask] of [...this.asks.waiting()]) this.asks.close(ask)?.fail(error);
    this.room.close();
    this.outbox.close();
    this.outbox.flush();
    this.links.close();
    this.wheel.close();
  }
}
