import type { AgentDefinition } from '../actor/agent-definition.ts';
import { AskTable, type WaitingAsk } from '../actor/ask-table.ts';
import { Cell, isRetry } from '../actor/cell.ts';
import { Courier } from '../actor/courier.ts';
import type { Handling } from '../actor/handling.ts';
import type { Identity } from '../actor/identity.ts';
import type { CpuPool } from '../actor/offload.ts';
import { StreamWindow } from '../actor/stream-pump.ts';
import { TimerWheel } from '../actor/timer-wheel.ts';
import { Fifo } from '../mailbox/fifo.ts';
import type { InFlow } from '../mailbox/in-flow.ts';
import { type Mail, mailToData, messageTypeOf, NO_ASK, toEnvelope, typeIndex } from '../mailbox/mail.ts';
import { EventRing } from '../observe/event-ring.ts';
import { COUNT } from '../observe/seat-counters.ts';
import type { Outcome, SystemEvent } from '../observe/system-event.ts';
import { outcomeIndex, TRAFFIC, type Traffic, type TrafficKind, TrafficRing, trafficEvents } from '../observe/traffic-ring.ts';
import { type PathHop, SCHEMA_VERSION } from '../protocol/envelope.ts';
import {
  actorDied,
  cancelled,
  capabilityNotFound,
  deadlineExceeded,
  type ErrorData,
  errorToData,
  notSerialisable,
  type OrreryError,
  systemStopped,
} from '../protocol/errors.ts';
import { isSystemId, type Party, systemParty, type Verdict } from '../protocol/policy.ts';
import type { RoutingConfig } from '../protocol/routing-config.ts';
import type { Seams } from '../protocol/seams.ts';
import type { AgentRow, RoutingTable } from '../routing/routing-table.ts';
import type { GrantBook } from '../routing/grants.ts';
import type { RouteDecider } from '../routing/route-decider.ts';
import type { DeadLetter } from '../system/system.ts';
import { REPLY } from './batch.ts';
import { Inbound } from './inbound.ts';
import type { PlaceDeath, PlaceMessage } from './lines.ts';
import { Link } from './link.ts';
import { type KeptMail, Outbox } from './outbox.ts';
import type { Port } from './port.ts';
import { STATUS } from './status-words.ts';

const BEAT_MS = 50;
/** Handling goes on this long before other things in the thread get a turn. */
const TURN_MS = 5;
/** What handlers sent waits at most this long while handling goes on. */
const FLUSH_AFTER_MS = 0.2;
const TRAFFIC_KEPT = 1_024;
const AUDIT_KEPT = 512;
const CANCELLED_KEPT = 1_024;
const SWEEP_MS = 100;
/** Whoever waits for room is woken when there is; this is for a thread that died meanwhile. */
const ROOM_POLL_MS = 20;

export interface PlaceDeps {
  readonly id: string;
  readonly seat: number;
  readonly seams: Seams;
  readonly table: RoutingTable;
  readonly decider: RouteDecider;
  readonly grants: GrantBook;
  readonly counters: SharedArrayBuffer;
  readonly status: SharedArrayBuffer;
  readonly commitLog: SharedArrayBuffer;
  /** Runs after the code that runs now, before anything else. */
  readonly defer: (run: () => void) => void;
  /** Runs when the event loop has had a turn. */
  readonly yieldTurn: (run: () => void) => void;
  readonly cpu: CpuPool;
  readonly broadcastToSender: boolean;
  readonly tell: (message: PlaceMessage) => void;
}

/**
 * One thread of the system: the agents that live in it, its links to the other threads, and everything between.
 *
 * The same class runs in every worker, in the embedder's thread, and in a simulation.
 */
export class Place {
  readonly id: string;
  readonly seat: number;
  readonly seams: Seams;
  readonly table: RoutingTable;
  readonly counters: Float64Array;
  readonly status: Int32Array;
  readonly wheel: TimerWheel;
  readonly outbox: Outbox;
  readonly asks = new AskTable();
  readonly courier: Courier;
  readonly traffic = new TrafficRing(TRAFFIC_KEPT);
  readonly audit = new EventRing<SystemEvent>(AUDIT_KEPT);
  readonly broadcastToSender: boolean;
  /** Who here may answer whom against the tier rules. */
  readonly grants: GrantBook;
  /** Cells whose handler has not ended yet. */
  readonly busy = new Set<Cell>();
  isStopped = false;
  readonly #deps: PlaceDeps;
  readonly #decider: RouteDecider;
  readonly #cells: (Cell | undefined)[] = [];
  readonly #links = new Map<string, Inbound>();
  /** Flows whose sender's thread is gone: what they hold counts here. */
  readonly #orphans = new Set<InFlow>();
  readonly #ready = new Fifo<Cell>();
  readonly #cancelled = new Map<string, OrreryError>();
  #young: Handling[] = [];
  readonly #windows = new Map<string, StreamWindow>();
  #roomWaiters: (() => void)[] = [];
  #isRunning = false;
  /** `#turnAtMs` is the time: set as a turn begins. */
  #isTimed = false;
  #turnAtMs = 0;
  #isRunPlanned = false;
  /** The event loop has not turned since the last turn here was over. */
  #isYielding = false;
  #lastFlushMs = 0;
  #turnEndsMs = 0;
  #events: SystemEvent[] | undefined;
  #letters: DeadLetter[] = [];
  #stopBeat: () => void = () => {};
  #stopSweep: () => void = () => {};

  constructor(deps: PlaceDeps) {
    this.#deps = deps;
    this.id = deps.id;
    this.seat = deps.seat;
    this.seams = deps.seams;
    this.table = deps.table;
    this.#decider = deps.decider;
    this.grants = deps.grants;
    this.counters = new Float64Array(deps.counters);
    this.status = new Int32Array(deps.status);
    this.wheel = new TimerWheel(deps.seams.clock);
    this.broadcastToSender = deps.broadcastToSender;
    this.courier = new Courier(this);
    this.outbox = new Outbox({
      place: deps.id,
      seat: deps.seat,
      counters: this.counters,
      commitLog: deps.commitLog,
      cellOf: (slot) => this.#cells[slot],
      linkTo: (place) => this.linkTo(place),
      defer: deps.defer,
      onFlowSlab: ({ index, memory }) => deps.tell({ t: 'flow-slab', seat: deps.seat, index, memory }),
      onNameSlab: (memory) => deps.tell({ t: 'name-slab', seat: deps.seat, memory }),
      beforeCommit: () => this.#postLetters(),
      afterCommit: () => this.#tellOfRoom(),
      keep: (kept) => this.#keep(kept),
    });
    this.#beat();
    this.#sweep();
  }

  // Links

  /** Connects to another thread. `former` is the inbound of the same place's dead thread. */
  connect(place: string, seat: number, port: Port, credit: SharedArrayBuffer, side: 0 | 1): void {
    const link = new Link({
      place,
      seat,
      port,
      credit,
      side,
      slab: (index) => this.outbox.slab(index),
      tableVersion: () => this.table.version,
      nowMs: () => this.seams.clock.monotonicMs(),
      onPost: (mails) => {
        this.counters[COUNT.accepted] = (this.counters[COUNT.accepted] as number) + mails;
        this.counters[COUNT.batchesSent] = (this.counters[COUNT.batchesSent] as number) + 1;
      },
    });
    const inbound = new Inbound(this, link);
    this.#links.set(place, inbound);
    port.onMessage((data) => this.#onData(inbound, port, data));
    port.onClose(() => this.#onClosed(inbound));
  }

  linkTo(place: string): Link | undefined {
    return this.#links.get(place)?.link;
  }

  /**
   * Connects to the new thread of a place that died, and sends again what its agents had not settled: untouched mail
   * as it was; what was cut off as a tombstone, or another time to a `retry` recipient.
   */
  reconnect(
    place: string,
    seat: number,
    port: Port,
    credit: SharedArrayBuffer,
    side: 0 | 1,
    death: PlaceDeath,
  ): void {
    const former = this.#links.get(place);
    if (former !== undefined) this.#readOut(former);
    this.connect(place, seat, port, credit, side);
    const link = this.linkTo(place) as Link;
    for (const [, { ticket }] of this.asks.waiting()) {
      if (this.table.get(ticket.agentId)?.place === place) ticket.link = link;
    }
    const rows = new Map<number, AgentRow>();
    for (const row of this.table.rows()) if (row.place === place) rows.set(row.slot, row);
    for (const flow of this.outbox.flowsTo(rows)) {
      const row = rows.get(flow.slot) as AgentRow;
      flow.isIntroduced = false;
      for (const { mail, fate } of flow.unsettledEntries()) {
        if (fate === 'cut-off') this.#cutOff(mail, row, flow.flow, death);
        this.outbox.touch(link);
        link.sendMail(flow, mail);
        // Whoever asked does not wait any more.
        if (mail.ask !== NO_ASK && this.asks.get(mail.ask) === undefined) link.asksInFlight -= 1;
      }
    }
  }

  /** Takes in all that a dead thread had posted, before its successor says anything. */
  #readOut(inbound: Inbound): void {
    for (let next = inbound.link.take(); next !== undefined; next = inbound.link.take()) {
      if (next.message !== 0) inbound.link.read(next.message, inbound);
    }
    this.#onClosed(inbound);
  }

  disconnect(place: string): void {
    const inbound = this.#links.get(place);
    if (inbound === undefined) return;
    this.#links.delete(place);
    inbound.link.close();
  }

  #cutOff(mail: Mail, row: AgentRow, flow: number, death: PlaceDeath): void {
    if (mail.tombstone !== undefined) return;
    if (!isRetry(mail, row)) {
      mail.tombstone = errorToData(actorDied(row.id, death.reason));
      return;
    }
    const { charge } = death;
    if (charge === undefined || charge.seat !== this.seat || charge.flow !== flow) return;
    if (charge.sequence === mail.sequence) mail.attempts += 1;
  }

  #onData(inbound: Inbound, port: Port, data: unknown): void {
    this.#turnAtMs = this.seams.clock.now();
    this.#isTimed = true;
    const { link } = inbound;
    if (data === 0) {
      this.outbox.touch(link);
      this.outbox.flush();
      this.#roomChanged();
      this.#isTimed = false;
      return;
    }
    inbound.taken = 0;
    link.read(data, inbound);
    if (link.remotePeak >= 16 || link.asksInFlight >= 16) this.#drain(inbound, port);
    if (inbound.taken > 0) link.tookIn(inbound.taken);
    if (this.#roomWaiters.length > 0) this.#roomChanged();
    // Messages that are queued come without a turn of the event loop between them: each must not get a turn of its own.
    if (this.#isYielding) this.#isTimed = false;
    else this.#run();
  }

  /** Takes more of what is queued already, so that answers and continuations come in batches too. */
  #drain(inbound: Inbound, port: Port): void {
    const most = Math.min(32, Math.max(inbound.link.remotePeak, inbound.link.asksInFlight) >> 1);
    for (let count = 0; count < most; count++) {
      const next = port.take();
      if (next === undefined) return;
      if (next.message === 0) this.outbox.touch(inbound.link);
      else inbound.link.read(next.message, inbound);
    }
  }

  #onClosed(inbound: Inbound): void {
    if (this.isStopped || inbound.isClosed) return;
    inbound.isClosed = true;
    inbound.link.retire();
    for (const flow of inbound.closeBooks()) this.adopt(flow);
    this.outbox.flush();
    this.#deps.tell({ t: 'received-all', seat: inbound.link.seat });
    if (this.#links.get(inbound.link.place) === inbound) this.#links.delete(inbound.link.place);
  }

  /** Takes over a flow whose sender's thread is gone. */
  adopt(flow: InFlow): void {
    this.#orphans.add(flow);
  }

  // Cells

  /** Unix milliseconds; while handling goes on, those of the turn: asking the time costs as much as noting an event. */
  get nowMs(): number {
    return this.#isTimed ? this.#turnAtMs : this.seams.clock.now();
  }

  /** Whose mailbox the envelope came into. */
  readonly agentOf = (mail: Mail): string => this.#cells[mail.flow?.slot ?? -1]?.row.id ?? mail.recipient;

  host(row: AgentRow, definition: AgentDefinition<unknown>): Cell {
    const cell = new Cell(this, row, definition);
    this.#cells[row.slot] = cell;
    return cell;
  }

  cellOf(slot: number): Cell | undefined {
    return this.#cells[slot];
  }

  *cells(): Iterable<Cell> {
    for (const cell of this.#cells) if (cell !== undefined) yield cell;
  }

  forget(cell: Cell): void {
    this.#cells[cell.row.slot] = undefined;
  }

  /** The cell has something to do. */
  wake(cell: Cell): void {
    if (cell.isQueued) return;
    cell.isQueued = true;
    this.#ready.push(cell);
    if (!this.#isRunning) this.#plan(this.#deps.defer);
  }

  readonly #runPlanned = (): void => {
    this.#isRunPlanned = false;
    this.#isYielding = false;
    this.#run();
  };

  #run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const { clock } = this.seams;
    this.#lastFlushMs = clock.monotonicMs();
    this.#turnEndsMs = this.#lastFlushMs + TURN_MS;
    this.#turnAtMs = clock.now();
    this.#isTimed = true;
    let isTurnOver = false;
    while (!isTurnOver) {
      let cell = this.#ready.shift();
      if (cell === undefined && this.outbox.undelivered > 0) {
        this.outbox.flush();
        cell = this.#ready.shift();
      }
      if (cell === undefined) break;
      cell.isQueued = false;
      cell.run(this.#mayGoOn);
      isTurnOver = this.#lastFlushMs > this.#turnEndsMs;
    }
    this.#isRunning = false;
    this.#isTimed = false;
    if (this.#ready.length > 0) this.#yield();
  }

  /** Asked after each handling: posts what is due, and ends the turn when others wait long enough. */
  readonly #mayGoOn = (): boolean => {
    const nowMs = this.seams.clock.monotonicMs();
    if (nowMs - this.#lastFlushMs >= FLUSH_AFTER_MS) {
      this.outbox.flush();
      this.#lastFlushMs = nowMs;
    }
    return nowMs <= this.#turnEndsMs;
  };

  /** A handler answers later. Most do before the event loop turns, and then nobody needs to watch them. */
  goesOn(handling: Handling): void {
    if (this.#young.push(handling) === 1) this.#deps.yieldTurn(this.#watchYoung);
  }

  readonly #watchYoung = (): void => {
    const young = this.#young;
    this.#young = [];
    for (const handling of young) {
      if (handling.isOver) continue;
      handling.isWatched = true;
      this.busy.add(handling.cell);
      handling.cell.watch(handling);
    }
  };

  /** A cell can take its next envelope: at once, if the turn is not over. */
  resume(cell: Cell): void {
    if (this.#isRunning || cell.isQueued || this.isStopped) {
      this.wake(cell);
      return;
    }
    this.#isRunning = true;
    cell.run(this.#mayGoOn);
    this.#isRunning = false;
    if (this.#ready.length > 0) this.#yield();
  }

  /** The turn is over: others first. */
  #yield(): void {
    this.#isYielding = true;
    this.#plan(this.#deps.yieldTurn);
  }

  #plan(schedule: (run: () => void) => void): void {
    if (this.#isRunPlanned) return;
    this.#isRunPlanned = true;
    schedule(this.#runPlanned);
  }

  /** Starts a lazy cell whose first envelope has come. */
  startCell(cell: Cell): void {
    cell.start().then(
      (isRunning) => {
        if (isRunning) this.#deps.tell({ t: 'started', slot: cell.row.slot });
      },
      (error: unknown) => this.crashed(cell, error instanceof Error ? error.message : String(error)),
    );
  }

  crashed(cell: Cell, reason: string): void {
    this.counters[COUNT.crashed] = (this.counters[COUNT.crashed] as number) + 1;
    this.outbox.flush();
    this.#deps.tell({ t: 'crashed', slot: cell.row.slot, reason });
  }

  exited(cell: Cell): void {
    this.#deps.tell({ t: 'exited', slot: cell.row.slot });
  }

  /** Agent code begins to run. */
  enter(slot: number): void {
    this.status[STATUS.seat] = -1;
    this.status[STATUS.current] = slot + 1;
  }

  enterHandling(slot: number, flow: InFlow, sequence: number): void {
    const { status } = this;
    status[STATUS.seat] = flow.seat < 0 ? this.seat : flow.seat;
    status[STATUS.flow] = flow.flow;
    status[STATUS.sequence] = sequence;
    status[STATUS.current] = slot + 1;
  }

  leave(): void {
    this.status[STATUS.current] = 0;
  }

  // Judging

  setRoutingConfig(config: RoutingConfig): void {
    const { policies } = this.#decider;
    this.#decider.policies = policies.map((policy) => policy.withConfig?.(config) ?? policy);
  }

  partyOf(id: string): Party {
    if (isSystemId(id)) return systemParty(id);
    return this.table.get(id)?.party ?? { id, tier: 3, sandboxId: undefined, isSystem: false };
  }

  judge(
    from: Identity,
    row: AgentRow,
    mail: Mail,
    isBroadcast: boolean,
    expectsReply: boolean,
    wasGranted = false,
  ): Verdict | undefined {
    const { request } = this.#decider;
    const { extras } = mail;
    request.sender = from.party;
    request.type = messageTypeOf(mail);
    request.schemaVersion = SCHEMA_VERSION;
    request.isBroadcast = isBroadcast;
    request.expectsReply = expectsReply;
    request.justification = extras?.justification ?? justificationIn(mail);
    request.capability = mail.capability;
    request.deadlineAtMs = mail.deadlineAtMs > 0 ? mail.deadlineAtMs : undefined;
    request.path = mail.path ?? NO_PATH;
    request.nowMs = mail.deadlineAtMs > 0 ? this.seams.clock.now() : mail.timestamp;
    return this.#decider.judgeDescribed(row.party, extras?.inReplyTo, wasGranted);
  }

  /** `holder` has `mail` in hand and may answer it. */
  holdGrant(mail: Mail, holder: string): void {
    const { id, sender, payload } = mail;
    const type = messageTypeOf(mail);
    const tier = this.partyOf(sender).tier;
    const metadata = mail.deadlineAtMs > 0 ? { tier, deadlineAtMs: mail.deadlineAtMs } : { tier };
    this.grants.hold({ id, sender, type, payload, metadata }, holder);
  }

  /** The first permitted agent with the capability; else the first refusal, and whom it would have been. */
  resolveCapability(
    from: Identity,
    mail: Mail,
    expectsReply: boolean,
  ): { row?: AgentRow; verdict?: Verdict; meant?: AgentRow } {
    let first: { verdict: Verdict; meant: AgentRow } | undefined;
    for (const row of this.table.withCapability(mail.recipient)) {
      const verdict = this.judge(from, row, mail, false, expectsReply);
      if (verdict === undefined) return { row };
      first ??= { verdict, meant: row };
    }
    if (first !== undefined) return first;
    const error = capabilityNotFound(mail.recipient);
    return { verdict: { code: error.code, reason: error.message } };
  }

  /** Judges what was judged under an older table. */
  judgeAgain(cell: Cell, mail: Mail): ErrorData | undefined {
    const from = { id: mail.sender, slot: -1, party: this.partyOf(mail.sender) };
    const verdict = this.judge(from, cell.row, mail, mail.recipient === '*', mail.ask !== NO_ASK, true);
    if (verdict === undefined) return undefined;
    this.noteRefusal(from, mail, verdict, cell.row);
    return { code: verdict.code, message: verdict.reason };
  }

  // Answers

  answer(mail: Mail, kind: number, payload: unknown, carries: 'json' | 'structured' | undefined): void {
    const flow = mail.flow as InFlow;
    if (kind !== REPLY.progress) this.#noteAnswer(mail, kind, payload);
    if (flow.seat === -1 || flow.seat === this.seat) {
      this.answered(mail.ask, kind, payload);
      return;
    }
    for (const { link } of this.#links.values()) {
      if (link.seat !== flow.seat) continue;
      this.outbox.touch(link);
      link.sendReply(mail.ask, kind, payload, carries === 'structured' && kind !== REPLY.error);
      return;
    }
  }

  #noteAnswer(mail: Mail, kind: number, payload: unknown): void {
    const { counters } = this;
    let noted: TrafficKind = mail.extras?.stream === true ? TRAFFIC.ended : TRAFFIC.replied;
    if (kind === REPLY.chunk) noted = TRAFFIC.chunk;
    else if (kind === REPLY.error) noted = TRAFFIC.failed;
    if (noted !== TRAFFIC.chunk) counters[COUNT.replies] = (counters[COUNT.replies] as number) + 1;
    const byType = COUNT.sentByType + (ANSWER_TYPES[noted - TRAFFIC.replied] as number);
    counters[byType] = (counters[byType] as number) + 1;
    this.traffic.note(noted, mail, this.nowMs, payload);
  }

  /** An answer came in. */
  answered(ask: number, kind: number, payload: unknown): void {
    const waiting = this.asks.get(ask);
    if (waiting === undefined) return;
    const isLast = kind !== REPLY.progress && kind !== REPLY.chunk;
    if (isLast) this.closeAsk(ask);
    waiting.answer(kind, payload);
  }

  closeAsk(ask: number): WaitingAsk | undefined {
    const waiting = this.asks.close(ask);
    if (waiting === undefined) return undefined;
    const { ticket } = waiting;
    ticket.timer?.cancel();
    ticket.release?.();
    ticket.owner?.hasAnswer(ask);
    if (ticket.link !== undefined) ticket.link.asksInFlight -= 1;
    return waiting;
  }

  pull(ask: number, link: Link | undefined, count: number): void {
    if (link === undefined) {
      this.window(this.seat, ask)?.pull(count);
      return;
    }
    this.outbox.touch(link);
    link.sendPull(ask, count);
  }

  openWindow(mail: Mail): StreamWindow {
    const window = new StreamWindow();
    this.#windows.set(this.#windowKey(mail), window);
    return window;
  }

  closeWindow(mail: Mail): void {
    this.#windows.delete(this.#windowKey(mail));
  }

  window(seat: number, ask: number): StreamWindow | undefined {
    return this.#windows.get(`${seat}/${ask}`);
  }

  #windowKey(mail: Mail): string {
    const { seat } = mail.flow as InFlow;
    return `${seat < 0 ? this.seat : seat}/${mail.ask}`;
  }

  // Cancellation

  /** Cancels an envelope that was sent from here, and everything it caused, wherever that is. */
  cancel(envelopeId: string): void {
    for (const { link } of this.#links.values()) {
      this.outbox.touch(link);
      link.sendCancel(envelopeId);
    }
    this.noteCancelled(envelopeId);
  }

  noteCancelled(envelopeId: string): void {
    const reason = cancelled(`Envelope ${envelopeId}`);
    this.#cancelled.set(envelopeId, reason);
    if (this.#cancelled.size > CANCELLED_KEPT) {
      this.#cancelled.delete(this.#cancelled.keys().next().value as string);
    }
    this.#watchYoung();
    for (const cell of this.busy) {
      for (const handling of cell.handlings) {
        const mail = handling.mail as Mail;
        if (mail.id === envelopeId || mail.path?.some((hop) => hop.envelopeId === envelopeId) === true) {
          cell.cutOff(handling, reason);
        }
      }
    }
  }

  cancellationOf(mail: Mail): OrreryError | undefined {
    if (this.#cancelled.size === 0) return undefined;
    const own = this.#cancelled.get(mail.id);
    if (own !== undefined || mail.path === undefined) return own;
    for (const hop of mail.path) {
      const above = this.#cancelled.get(hop.envelopeId);
      if (above !== undefined) return above;
    }
    return undefined;
  }

  // Waiting

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const onAbort = (): void => {
        cancel();
        reject(signal.reason as Error);
      };
      const cancel = this.seams.clock.setTimer(ms, () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** The outcome of `work`, or DEADLINE_EXCEEDED after `timeoutMs`. */
  within<Value>(work: Promise<Value>, timeoutMs: number, what: string): Promise<Value> {
    return new Promise((resolve, reject) => {
      const timer = this.wheel.add(this.seams.clock.now() + timeoutMs, () => reject(deadlineExceeded(what, timeoutMs)));
      work.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  /** Resolves when a full mailbox at `place` may have room again; `hasRoom` is asked once more before waiting. */
  roomChange(
    place: string | undefined,
    hasRoom: () => boolean,
    { signal, deadlineAtMs }: { signal: AbortSignal | undefined; deadlineAtMs: number },
  ): Promise<void> {
    const link = place === undefined ? undefined : this.linkTo(place);
    link?.wantRoom();
    if (hasRoom()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const cancel = this.seams.clock.setTimer(ROOM_POLL_MS, () => this.#roomChanged());
      this.#roomWaiters.push(() => {
        cancel();
        if (this.isStopped) reject(systemStopped('it waited for room in a mailbox'));
        else if (signal?.aborted === true) reject(signal.reason as Error);
        else if (deadlineAtMs > 0 && deadlineAtMs <= this.seams.clock.now()) {
          reject(deadlineExceeded('Room in the mailbox', 0));
        } else resolve();
      });
    });
  }

  /** Wakes those who wait for room in a mailbox of this thread, here and elsewhere. */
  #tellOfRoom(): void {
    if (this.#roomWaiters.length > 0) this.#roomChanged();
    for (const { link } of this.#links.values()) link.tellOfRoom();
  }

  #roomChanged(): void {
    const waiters = this.#roomWaiters;
    this.#roomWaiters = [];
    for (const wake of waiters) wake();
  }

  offload<Input, Output>(module: URL, input: Input, signal: AbortSignal): Promise<Output> {
    return this.#deps.cpu.run(module, input, signal) as Promise<Output>;
  }

  // What is seen

  settled(flow: InFlow, mail: Mail, outcome: Outcome): void {
    this.outbox.touchIn(flow);
    this.traffic.note(TRAFFIC.settled, mail, this.nowMs, outcomeIndex(outcome));
  }

  refuseUnheld(mail: Mail, why: ErrorData): void {
    const flow = mail.flow as InFlow;
    if (mail.ask !== NO_ASK) this.answer(mail, REPLY.error, why, 'json');
    flow.settle(mail.sequence, 'rejected');
    this.settled(flow, mail, 'rejected');
    this.deadLetter(mail, mail.recipient, why);
  }

  deadLetter(mail: Mail, recipient: string, why: ErrorData): void {
    const sender = this.partyOf(mail.sender);
    const type = messageTypeOf(mail);
    const atMs = this.seams.clock.now();
    const envelope = toEnvelope(mail, sender.tier, sender.sandboxId);
    // Of a mail whose every copy died, not even the name may be left.
    const id = mail.id === '' ? undefined : mail.id;
    const letter = { id, sender: mail.sender, recipient, type, code: why.code, reason: why.message, atMs };
    if (this.#letters.push({ ...letter, envelope }) === 1) this.outbox.planFlush();
    this.note({
      type: 'dead-letter',
      timestamp: atMs,
      envelopeId: mail.id,
      sender: mail.sender,
      recipient,
      messageType: type,
      errorCode: why.code,
      reason: why.message,
      success: false,
    });
  }

  noteClosed(cell: Cell, mail: Mail, outcome: Outcome, error: OrreryError): void {
    this.note({
      type: 'error',
      timestamp: this.seams.clock.now(),
      agentId: cell.row.id,
      envelopeId: mail.id,
      sender: mail.sender,
      recipient: mail.recipient,
      messageType: messageTypeOf(mail),
      outcome,
      errorCode: error.code,
      reason: error.message,
      success: false,
    });
  }

  noteError(agentId: string, error: unknown): void {
    const { code, message } = errorToData(error);
    const timestamp = this.seams.clock.now();
    this.note({ type: 'error', timestamp, agentId, errorCode: code, reason: message, success: false });
  }

  /** An error that nobody caught: it is reported, and ends the one actor that had something in hand. */
  noteStray(error: unknown): void {
    this.#watchYoung();
    const [suspect] = this.busy;
    this.noteError(suspect?.row.id ?? this.id, error);
    if (suspect !== undefined && this.busy.size === 1) suspect.crash(error, suspect.handlings.at(-1));
  }

  noteProgress(cell: Cell, mail: Mail, fraction: number, note: string | undefined): void {
    this.note({
      type: 'progress',
      timestamp: this.seams.clock.now(),
      agentId: cell.row.id,
      envelopeId: mail.id,
      fraction,
      ...(mail.correlationId === undefined ? {} : { correlationId: mail.correlationId }),
      ...(mail.capability === undefined ? {} : { capability: mail.capability }),
      ...(note === undefined ? {} : { reason: note }),
    });
  }

  /** Counts a refusal and notes it; one by a policy is a security event. `row` is whom it was meant for, if known. */
  noteRefusal(from: Identity, mail: Mail, verdict: Verdict, row: AgentRow | undefined): void {
    this.counters[COUNT.refused] = (this.counters[COUNT.refused] as number) + 1;
    const isFull = verdict.code === 'MAILBOX_FULL';
    // A flood of one event a refused envelope would drive everything else out of the ring.
    if (isFull && this.#events === undefined) return;
    const security = row !== undefined && !isFull;
    if (security) this.counters[COUNT.securityEvents] = (this.counters[COUNT.securityEvents] as number) + 1;
    this.note({
      type: 'routing-decision',
      timestamp: this.seams.clock.now(),
      envelopeId: mail.id,
      sender: from.id,
      recipient: mail.recipient,
      messageType: messageTypeOf(mail),
      ...(mail.correlationId === undefined ? {} : { correlationId: mail.correlationId }),
      routingPath: mail.recipient === '*' ? 'broadcast' : 'local',
      targetAgentId: row?.id ?? mail.recipient,
      latencyMs: this.courier.latencyMs,
      success: false,
      errorCode: verdict.code,
      reason: verdict.reason,
      ...(from.party.isSystem ? {} : { sourceTier: from.party.tier }),
      ...(row === undefined || row.party.isSystem ? {} : { targetTier: row.party.tier }),
      ...(security ? { security: true } : {}),
    });
  }

  auditCrossTier(from: Identity, row: AgentRow, mail: Mail): void {
    this.counters[COUNT.crossTier] = (this.counters[COUNT.crossTier] as number) + 1;
    this.note({
      type: 'routing-decision',
      timestamp: mail.timestamp,
      envelopeId: mail.id,
      sender: from.id,
      recipient: mail.recipient,
      targetAgentId: row.id,
      messageType: messageTypeOf(mail),
      sourceTier: from.party.tier,
      targetTier: row.party.tier,
      routingPath: mail.recipient === '*' ? 'broadcast' : 'local',
      success: true,
      security: true,
    });
  }

  /** Notes an event of its own ring, and streams it while somebody listens. */
  note(event: SystemEvent): void {
    if (event.type === 'error') this.counters[COUNT.errors] = (this.counters[COUNT.errors] as number) + 1;
    this.audit.push({ ...event, place: this.id });
    if (this.#events !== undefined) this.#stream({ ...event, place: this.id });
  }

  /** Streams every event to the control thread, or stops. */
  inspect(isOn: boolean): void {
    this.#events = isOn ? [] : undefined;
    this.traffic.listen(isOn ? (traffic) => this.#streamTraffic(traffic) : undefined);
  }

  #streamTraffic(traffic: Traffic): void {
    for (const event of trafficEvents(traffic, this)) this.#stream(event);
  }

  #keep(kept: readonly KeptMail[]): void {
    const dataOf = ({ seat, flow, mail }: KeptMail) => ({ seat, flow, mail: mailToData(mail) });
    try {
      this.#deps.tell({ t: 'kept', kept: kept.map(dataOf) });
    } catch {
      // A mail that cannot be copied could not have gone to another thread either.
      for (const { mail } of kept) refuseUncloneable(mail);
      this.#deps.tell({ t: 'kept', kept: kept.map(dataOf) });
    }
  }

  /** Dead letters are the control thread's before the marks say that they are settled. */
  #postLetters(): void {
    if (this.#letters.length === 0) return;
    const letters = this.#letters;
    this.#letters = [];
    this.#deps.tell({ t: 'dead-letters', letters });
  }

  #stream(event: SystemEvent): void {
    const events = this.#events;
    if (events === undefined) return;
    if (events.push(event) === 1) this.#deps.defer(() => this.#postEvents());
    else if (events.length >= 512) this.#postEvents();
  }

  #postEvents(): void {
    if (this.#events === undefined || this.#events.length === 0) return;
    const events = this.#events;
    this.#events = [];
    this.#deps.tell({ t: 'events', events });
  }

  /** Counted, not computed: what lies in this thread's ledgers and, of flows without one, in its mailboxes. */
  inFlight(): number {
    let count = this.outbox.trim() + this.outbox.undelivered;
    for (const { link } of this.#links.values()) count -= link.queued;
    for (const cell of this.cells()) {
      for (const mail of cell.mails()) if (this.#isHeldHere(mail.flow)) count += 1;
    }
    for (const flow of this.outbox.localFlows()) count += flow.uncommitted;
    for (const flow of this.#orphans) count += flow.uncommitted;
    return count;
  }

  #isHeldHere(flow: InFlow | undefined): boolean {
    return flow !== undefined && (flow.seat === -1 || this.#orphans.has(flow));
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
    for (const flow of this.#orphans) if (flow.isSettled) this.#orphans.delete(flow);
    this.#stopSweep = this.seams.clock.setTimer(SWEEP_MS, () => this.#sweep());
  }

  /** Nothing is in hand, waits, or is on its way from here. */
  get isIdle(): boolean {
    if (this.busy.size > 0 || this.#young.length > 0 || this.#ready.length > 0) return false;
    for (const cell of this.cells()) {
      if (cell.inHand > 0 || (cell.status === 'running' && cell.waiting > 0)) return false;
    }
    return true;
  }

  /** Fails what waits and lets go of every timer and port. */
  close(error: OrreryError): void {
    this.isStopped = true;
    this.#stopBeat();
    this.#stopSweep();
    for (const [ask] of [...this.asks.waiting()]) this.closeAsk(ask)?.fail(error);
    this.#roomChanged();
    this.outbox.flush();
    for (const { link } of this.#links.values()) link.close();
    this.#links.clear();
    this.wheel.close();
  }
}

const NO_PATH: readonly PathHop[] = [];

function refuseUncloneable(mail: Mail): void {
  try {
    structuredClone(mail.payload);
  } catch (error) {
    mail.tombstone = errorToData(notSerialisable('payload', (error as Error).message));
    mail.payload = null;
  }
}

/** The message types of the answers, in the order of `TRAFFIC` from `replied` on. */
const ANSWER_TYPES = (['response', 'error', 'stream-data', 'stream-end'] as const).map(typeIndex);

/** A proposal may carry its justification in its payload. */
function justificationIn(mail: Mail): string | undefined {
  if (messageTypeOf(mail) !== 'task-proposal') return undefined;
  const { escalationJustification } = (mail.payload ?? {}) as { escalationJustification?: unknown };
  return typeof escalationJustification === 'string' ? escalationJustification : undefined;
}
