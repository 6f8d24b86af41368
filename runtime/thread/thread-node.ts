import type { AgentDefinition } from '../agent/agent-definition.ts';
import { AgentMemories } from '../cell/cell-taint.ts';
import type { Interceptors } from '../cell/interceptors.ts';
import { AskTable } from '../cell/waiting-asks.ts';
import { Cancellations, isCausedBy } from '../cell/cancellations.ts';
import { Cell } from '../cell/cell.ts';
import { CellChannels } from '../cell/cell-channels.ts';
import { isFromOutside, type MakeActor } from '../cell/actor-life.ts';
import { Checkpoints } from '../cell/checkpoints.ts';
import { MailSender, type SendingThread } from '../cell/mail-sender.ts';
import { CpuPool, type CpuPoolOptions } from '../agent/offload.ts';
import type { Outside, OutsideCall } from '../agent/outside.ts';
import { sleepUntil } from '../protocol/sleep-until.ts';
import { StreamWindows } from '../cell/stream-windows.ts';
import { TimerWheel } from '../cell/timer-wheel.ts';
import { Accounts } from '../budget/accounts.ts';
import type { InFlow } from '../mailbox/in-flow.ts';
import { type Mail, NO_ASK, REPLY } from '../mailbox/mail.ts';
import type { EventLimits } from '../observe/event-limits.ts';
import { NodeLog } from '../observe/node-log.ts';
import { COUNT } from '../observe/thread-counters.ts';
import type { Outcome } from '../protocol/system-event.ts';
import { outcomeIndex, TRAFFIC } from '../observe/traffic-ring.ts';
import { BROADCAST } from '../protocol/envelope.ts';
import {
  deadlineExceeded,
  type ErrorData,
  errorToData,
  isOrreryError,
  notHere,
  type OrreryError,
  reasonOf,
  stackOf,
} from '../protocol/errors.ts';
import type { JudgePolicy } from '../protocol/policy.ts';
import type { Seams, EventLoop } from '../protocol/seams.ts';
import type { Taint } from '../protocol/taint.ts';
import { warnOfStray } from '../protocol/warn-of.ts';
import { AgentStatusMemory } from '../routing/agent-status-memory.ts';
import { Grants } from '../routing/grants.ts';
import type { AgentOffer } from '../routing/offered-profile.ts';
import { Lookups } from '../routing/lookups.ts';
import { MailJudge } from '../routing/mail-judge.ts';
import { RoutingTable, type TableDelta } from '../routing/routing-table.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import { ThreadRouter } from '../routing/thread-router.ts';
import type { ProgressLimits } from '../supervision/progress-watch.ts';
import type { DiedOver } from '../supervision/supervisor.ts';
import type { WatchdogLimits } from '../supervision/supervisor-options.ts';
import { isSnapshotUnknown } from '../upgrade/restore.ts';
import { Answers } from './answers.ts';
import type { NodeReport } from './control-protocol.ts';
import { Links } from './links.ts';
import { type ReplicatedMail, Outbox } from '../link/outbox.ts';
import type { NodeJournal } from './node-journal.ts';
import { RoomWaiters } from '../link/room-waiters.ts';
import { sendCopies } from '../link/second-copies.ts';
import { STATUS } from '../mailbox/status-words.ts';
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
  /** What outlives the process, in a system with a journal. */
  journal: NodeJournal | undefined;
  readonly #deps: ThreadNodeDeps;
  readonly #cells: (Cell | undefined)[] = [];
  #stopBeat: () => void = () => {};
  #stopSweep: () => void = () => {};

  constructor(deps: ThreadNodeDeps, boot: NodeBoot) {
    this.#deps = deps;
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
    this.accounts = new Accounts(boot.accounts, boot.incarnation);
    this.agentStatus = new AgentStatusMemory(boot.agentStatus);
    this.checkpoints = new Checkpoints(boot.incarnation, (kept) => deps.tell({ t: 'checkpoint', kept }));
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
      place: boot.id,
      incarnation: boot.incarnation,
      counters: this.counters,
      commitLog: boot.commitLog,
      recipientIn: (slot) => this.#cells[slot],
      beginTurn: () => this.turns.beginUnlessRunning(),
      received: (mail) => this.log.traffic.note(TRAFFIC.received, mail, this.turns.nowMs, undefined),
      refuse: (mail) => this.refuseUnheld(mail, errorToData(notHere(mail.recipient, this.id))),
      linkTo: (place) => this.links.to(place),
      defer: deps.loop.defer,
      onFlowSlab: ({ index, memory }) =>
        deps.tell({ t: 'flow-slab', incarnation: boot.incarnation, index, memory }),
      onNameSlab: (memory) => deps.tell({ t: 'name-slab', incarnation: boot.incarnation, memory }),
      beforeCommit: () => {
        if (this.journal?.history?.isBehind === true) this.journal.history.collect();
        return this.log.tell();
      },
      afterCommit: () => this.#tellOfRoom(),
      keep: (kept) => this.#keep(kept),
    });
    this.router.replace(boot.table);
    this.#beat();
    this.#sweep();
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
    return cell;
  }

  /** Starts a cell, with the state that a former thread or process left for it, if there is such. */
  startCell(cell: Cell): void {
    const { slot } = cell.row;
    const snapshot = this.journal?.states.leftBy(cell);
    cell.start(snapshot).then(
      (isRunning) => {
        if (!isRunning) return;
        this.journal?.states.tookUp(cell);
        this.#deps.tell({ t: 'started', slot });
      },
      (error: unknown) => {
        if (snapshot === undefined || !isSnapshotUnknown(error))
          return this.crashed(cell, error, cell.lives.taint, { fault: optionFault(cell, error) });
        cell.park();
        this.journal?.states.tookUp(cell);
        this.#deps.tell({ t: 'parked', slot, snapshot, why: errorToData(error) });
      },
    );
  }

  /** The code of the cell's agent runs in this process now; undefined when it could not be started. */
  hasProcess(cell: Cell, pid: number | undefined): void {
    this.#deps.tell({ t: 'process', slot: cell.row.slot, pid });
  }

  /**
   * `taint`: where what the error says came from outside; `over`: the envelope that it died over; `fault`: what of its options
   * its start has found wrong.
   */
  crashed(
    cell: Cell,
    error: unknown,
    taint: Taint | undefined,
    { over, fault }: { readonly over?: DiedOver | undefined; readonly fault?: ErrorData | undefined } = {},
  ): void {
    this.counters[COUNT.crashed] = (this.counters[COUNT.crashed] as number) + 1;
    this.outbox.flush();
    const charged = !isFromOutside(error);
    const last = { reason: reasonOf(error), stack: stackOf(error), taint };
    this.#deps.tell({ t: 'crashed', slot: cell.row.slot, ...last, charged, over, fault });
  }

  /** The agent says what it offers from now on. */
  offers(cell: Cell, offer: AgentOffer): void {
    this.#deps.tell({ t: 'offers', slot: cell.row.slot, offer });
  }

  exited(cell: Cell, over: DiedOver | undefined): void {
    this.#deps.tell({ t: 'exited', slot: cell.row.slot, over });
  }

  /** Agent code begins to run. */
  enter(slot: number): void {
    this.status[STATUS.incarnation] = -1;
    this.status[STATUS.current] = slot + 1;
  }

  enterHandling(slot: number, flow: InFlow, sequence: number): void {
    const { status } = this;
    status[STATUS.incarnation] = flow.incarnation < 0 ? this.incarnation : flow.incarnation;
    status[STATUS.flow] = flow.flow;
    status[STATUS.sequence] = sequence;
    status[STATUS.current] = slot + 1;
  }

  leave(): void {
    this.status[STATUS.current] = 0;
  }

  /** Judges what was judged under an older table. */
  judgeAgain(cell: Cell, mail: Mail): ErrorData | undefined {
    const sender = this.judge.partyOf(mail.sender);
    const manner = {
      isBroadcast: mail.recipient === BROADCAST,
      expectsReply: mail.ask !== NO_ASK,
      wasGranted: true,
    };
    const verdict = this.judge.judge(sender, cell.row, mail, manner, this.turns.nowMs);
    if (verdict === undefined) return undefined;
    this.log.refusal(sender, mail, verdict, cell.row);
    return { code: verdict.code, message: verdict.reason };
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
    const onStack = this.#cells[(this.status[STATUS.current] as number) - 1];
    if (onStack !== undefined) turns.watch(onStack);
    for (const cell of turns.busy) {
      for (const handling of cell.handlings)
        if (isCausedBy(handling.mail as Mail, envelopeId)) handling.cutOff(reason);
    }
  }

  // Waiting

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepUntil(this.seams.clock, ms, signal);
  }

  /** The outcome of `work`, or DEADLINE_EXCEEDED after `timeoutMs`. */
  within<Value>(work: Promise<Value>, timeoutMs: number, what: string): Promise<Value> {
    return new Promise((resolve, reject) => {
      const timer = this.wheel.add(this.seams.clock.now() + timeoutMs, () =>
        reject(deadlineExceeded(what, timeoutMs)),
      );
      work.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  /** Wakes those who wait for room in a mailbox of this thread, here and elsewhere. */
  #tellOfRoom(): void {
    this.room.wake();
    for (const link of this.links.all()) link.tellOfRoom();
  }

  /** Runs `run`, unless somebody answers in place of what it reaches. */
  async effect<Result>(
    by: OutsideCall,
    name: string,
    run: (signal: AbortSignal) => Result | Promise<Result>,
  ): Promise<Result> {
    const { outside } = this.#deps;
    return outside === undefined ? await run(by.signal) : ((await outside.effect(by, name)) as Result);
  }

  offload<Input, Output>(by: OutsideCall, module: URL, input: Input): Promise<Output> {
    const { outside } = this.#deps;
    return (outside?.offload(by, module, input) ?? this.cpu.run(module, input, by.signal)) as Promise<Output>;
  }

  // What is seen

  settled(flow: InFlow, mail: Mail, outcome: Outcome): void {
    this.outbox.touchIn(flow);
    this.log.traffic.note(TRAFFIC.settled, mail, this.turns.nowMs, outcomeIndex(outcome));
  }

  refuseUnheld(mail: Mail, why: ErrorData): void {
    const flow = mail.flow as InFlow;
    if (mail.extras?.account !== undefined) this.accounts.close(mail.extras.account);
    if (mail.ask !== NO_ASK) this.answers.give(mail, REPLY.error, why, 'json');
    flow.settle(mail.sequence, 'rejected');
    if (mail.kept > 0) this.journal?.settled(mail);
    this.settled(flow, mail, 'rejected');
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

  #keep(kept: readonly ReplicatedMail[]): void {
    sendCopies(kept, (copies) => this.#deps.tell({ t: 'kept', kept: copies }));
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
    this.outbox.flush();
    this.links.close();
    this.wheel.close();
  }
}

/** What of its options an agent's start has found wrong, if it is one that says so. */
const optionFault = ({ definition }: Cell, error: unknown): ErrorData | undefined =>
  definition.checksOptions && isOrreryError(error) && error.code === 'INVALID_OPTIONS'
    ? errorToData(error)
    : undefined;
