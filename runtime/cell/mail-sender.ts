import { type Funds, fundCopy } from '../budget/mail-account.ts';
import { LANE, type Lane, copyOf, type Mail } from '../mailbox/mail.ts';
import type { RoomWaiters } from '../link/room-waiters.ts';
import type { WaitingSend } from '../mailbox/waiting-send.ts';
import { COUNT } from '../observe/thread-counters.ts';
import { latencyOf, TRAFFIC } from '../observe/traffic-ring.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import type { Budget, Cost } from '../protocol/budget.ts';
import { BROADCAST, type PathHop } from '../protocol/envelope.ts';
import { cancelled, deadlineExceeded, type ErrorCode, OrreryError } from '../protocol/errors.ts';
import { HOST_ID, isCrossTier, isSystemId, LOOP_ID, verdictOf } from '../protocol/policy.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';
import type { Lookups } from '../routing/lookups.ts';
import { deliveredResult, type MailManner, refusedResult, Unrouted } from '../routing/mail-judge.ts';
import { queryOf, type RemoteQuery } from '../routing/remote-lookup.ts';
import type { ThreadRouter } from '../routing/thread-router.ts';
import { AgentId } from '../agent/agent-options.ts';
import { callOutside } from '../agent/call-outside.ts';
import type { AskOptions, Target, TellOptions } from '../agent/context.ts';
import type { CellThread } from './cell-thread.ts';
import { GrantUse, NO_STEPS, type Send, type SendStep } from './send-step.ts';
import type { Handling } from './handling.ts';
import { type Identity, MailMaker } from './mail-maker.ts';
import { MailSpans } from './mail-spans.ts';
import type { SpanFault } from '../protocol/tracer.ts';
import { noRoom, stoppedError, tooManyWait, Unsent, verdictAtOnce, whyNotWait } from './unsent.ts';
import { type WaitingAsk, WaitingStream, WaitingValue } from './waiting-asks.ts';

const TOLD: MailManner = { isBroadcast: false, expectsReply: false };
const TOLD_ALL: MailManner = { isBroadcast: true, expectsReply: false };
const ASKED: MailManner = { isBroadcast: false, expectsReply: true };

/** Routing is measured this often: asking the time twice costs as much as routing. */
const MEASURE_EVERY = 16;

/** What still matters of the options of an ask that was made elsewhere. */
export interface LaterOptions
  extends Pick<AskOptions, 'signal' | 'onSent' | 'onProgress' | 'onTaint' | 'budget'> {
  /** Is told what was spent of its budget by when it is over. */
  readonly onSpent?: (spent: Required<Cost>) => void;
  /** Gives the signal of one that has none, and has to wait before it is sent: most need none, and making one costs. */
  readonly signalOfWait?: () => AbortSignal;
}

interface SettledOptions extends Pick<LaterOptions, 'signalOfWait'> {
  readonly funds: Funds | undefined;
}

type AnyAskOptions = AskOptions & LaterOptions;

/** What sending needs of its thread beside what a cell needs. */
export interface SendingThread extends CellThread {
  readonly router: ThreadRouter;
  /** Undefined where no other node is asked for anybody. */
  readonly lookups: Lookups | undefined;
  /** Who here waits for room in a mailbox. */
  readonly room: RoomWaiters;
  readonly counters: Float64Array;
  readonly broadcastToSender: boolean;
}

/** What of a send is not in its mail. */
interface SendOptions {
  readonly parent: Handling | undefined;
  readonly manner: MailManner;
  readonly budget: Budget | undefined;
  readonly funds?: Funds | undefined;
  readonly onSpent?: LaterOptions['onSpent'];
}

/**
 * Sends in the name of whoever lives in this thread: routes, judges, bounds, and waits for answers.
 *
 * What is sent while an envelope is handled inherits its deadline, path and correlation id, and only narrows them.
 */
export class MailSender {
  readonly #thread: SendingThread;
  readonly #make: MailMaker;
  readonly #steps: readonly SendStep[];
  /** Undefined where nobody traces. */
  readonly #spans: MailSpans | undefined;
  #routed = 0;

  constructor(thread: SendingThread) {
    this.#thread = thread;
    this.#make = new MailMaker(thread.seams.ids, () => thread.turns.stamp());
    const { tracer } = thread.seams;
    this.#spans = tracer && new MailSpans(tracer);
    const features = [new GrantUse(thread.judge), thread.funding];
    this.#steps = this.#spans === undefined ? features : [this.#spans, ...features];
  }

  // Tells

  tell(
    from: Identity,
    target: string | Target<unknown, unknown>,
    payload: unknown,
    options: TellOptions,
    parent: Handling | undefined,
  ): RoutingResult {
    const mail = this.#make.tell(from, target, payload, options, parent);
    parent?.holdGrantFor(options.inReplyTo);
    const send = this.#sendOf(from, mail, { parent, manner: TOLD, budget: options.budget });
    return this.#sendAtOnce(send, mail.timestamp, false);
  }

  /**
   * Routes and accepts `mail`, which is sent from `parent`; a refusal is in the result, one where the sandbox would not let
   * an expected reply back included. How long it took to route is measured. `funds` are those of the sender, instead of what
   * `parent` has.
   */
  send(
    from: Identity,
    mail: Mail,
    {
      parent,
      expectsReply = false,
      funds,
    }: { parent?: Handling | undefined; expectsReply?: boolean; funds?: Funds | undefined } = {},
  ): RoutingResult {
    const manner = expectsReply ? ASKED : TOLD;
    const send = this.#sendOf(from, mail, { parent, manner, budget: mail.extras?.budget, funds });
    return this.#sendAtOnce(send, this.#thread.seams.clock.now(), true);
  }

  #sendAtOnce(send: Send, nowMs: number, isMeasured: boolean): RoutingResult {
    const why = this.#late(send) ?? this.#begin(send);
    if (why !== undefined) return this.#refuse(send, new Unsent(verdictOf(why)));
    if (send.mail.recipient === BROADCAST) return this.#broadcast(send, nowMs);
    const startedMs = this.#startRouting(isMeasured);
    const row = this.#route(send, nowMs, true);
    const routingMs = this.#routedSince(startedMs);
    return row instanceof Unsent ? this.#refuse(send, row, routingMs) : this.#deliver(send, row, routingMs);
  }

  tellWhenRoom(
    from: Identity,
    target: string | Target<unknown, unknown>,
    payload: unknown,
    options: TellOptions,
    parent: Handling | undefined,
  ): Promise<RoutingResult> {
    return new Promise((resolve, reject) => {
      const mail = this.#make.tell(from, target, payload, options, parent);
      parent?.holdGrantFor(options.inReplyTo);
      const send = this.#sendOf(from, mail, { parent, manner: TOLD, budget: options.budget });
      const why = this.#late(send) ?? this.#begin(send);
      if (why !== undefined) return resolve(this.#refuse(send, new Unsent(verdictOf(why))));
      const fail = (error: Error): void => {
        this.#end(send, undefined, error);
        reject(error);
      };
      this.#sendWhenRoom(send, mail.timestamp, { isInTurn: false, done: resolve, fail });
    });
  }

  #sendWhenRoom(
    send: Send,
    nowMs: number,
    {
      isInTurn,
      done,
      fail,
      signalOfWait,
    }: {
      readonly isInTurn: boolean;
      readonly done: (result: RoutingResult) => void;
      readonly fail: (error: Error) => void;
      readonly signalOfWait?: SettledOptions['signalOfWait'];
    },
  ): void {
    if (send.mail.recipient === BROADCAST) return done(this.#broadcast(send, nowMs));
    const startedMs = this.#startRouting(false);
    const row = this.#route(send, nowMs, isInTurn);
    const routingMs = this.#routedSince(startedMs);
    if (!(row instanceof Unsent)) return done(this.#deliver(send, row, routingMs));
    const { waitsFor } = row;
    if (waitsFor === undefined) return done(this.#refuse(send, row, routingMs));
    const { clock } = this.#thread.seams;
    const go = (): void =>
      this.#sendWhenRoom(send, clock.now(), { isInTurn: waitsFor === 'room', done, fail, signalOfWait });
    this.#wait(send, row, { signal: signalOfWait?.(), go, fail });
  }

  /**
   * Sends `mail` as soon as there is room for it, with this much to spend. Resolves when its outcome is known, whatever that is;
   * rejects with what it was refused with. `signalOfWait`: gives the signal that ends the wait for room.
   */
  sendSettled(from: Identity, mail: Mail, { funds, signalOfWait }: SettledOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const { receipts } = this.#thread.outbox;
      const send = this.#sendOf(from, mail, { parent: undefined, manner: TOLD, budget: undefined, funds });
      const fail = (error: Error): void => {
        receipts.forget(mail);
        this.#end(send, undefined, error);
        reject(error);
      };
      const why = this.#late(send) ?? this.#begin(send);
      if (why !== undefined) return fail(why);
      receipts.expect(mail, resolve);
      const done = ({ delivered, error, errorCode, retryAfterMs }: RoutingResult): void => {
        if (delivered) return;
        receipts.forget(mail);
        const details = {
          recipient: mail.recipient,
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        };
        reject(new OrreryError(errorCode ?? 'REFUSED', error ?? 'it was refused', { details }));
      };
      this.#sendWhenRoom(send, mail.timestamp, { isInTurn: false, done, fail, signalOfWait });
    });
  }

  /** `send`, once it is known whether other nodes have whom it is for, if nobody here is meant. */
  sendWhenFound(from: Identity, mail: Mail): Promise<RoutingResult> {
    return new Promise((resolve) => {
      const send = this.#sendOf(from, mail, { parent: undefined, manner: TOLD, budget: undefined });
      const go = (): void => resolve(this.send(from, mail));
      if (
        this.#thread.lookups === undefined ||
        mail.recipient === BROADCAST ||
        this.#late(send) !== undefined
      )
        return go();
      const row = this.#route(send, this.#thread.seams.clock.now(), true);
      if (!(row instanceof Unsent) || row.waitsFor === undefined || row.waitsFor === 'room') return go();
      const fail = (error: Error): void =>
        resolve(this.#refuse(send, new Unsent(verdictOf(error as OrreryError))));
      this.#wait(send, row, { go, fail });
    });
  }

  // Asks

  ask<Input, Output>(
    from: Identity,
    target: Target<Input, Output>,
    input: Input,
    options: AskOptions,
    parent: Handling | undefined,
  ): Promise<Output> {
    return new Promise<Output>((resolve, reject) => {
      const mail = this.#make.ask(from, target as Target<unknown, unknown>, input, options, parent, false);
      const waiting = new WaitingValue(mail, parent, resolve as never, reject, options);
      this.#beginAsk(from, waiting, options);
    });
  }

  /** Sends an ask that was made elsewhere as soon as there is room for it; `waiting` is told of its answer. */
  askLater(from: Identity, waiting: WaitingAsk, options: LaterOptions): void {
    this.#beginAsk(from, waiting, { ...options, whenFull: 'park' });
  }

  stream<Input, Output>(
    from: Identity,
    target: Target<Input, Output>,
    input: Input,
    options: AskOptions,
    parent: Handling | undefined,
  ): AsyncGenerator<Output, void, undefined> {
    const make = (): Mail => this.#make.ask(from, target as never, input, options, parent, true);
    return this.#read(from, make, options, parent);
  }

  /** Sends an ask for a stream that was made elsewhere as soon as there is room for it. */
  streamLater(from: Identity, mail: Mail, options: LaterOptions, on?: Handling): AsyncIterable<unknown> {
    return this.#read(from, () => mail, { ...options, whenFull: 'park' }, on);
  }

  async *#read<Output>(
    from: Identity,
    make: () => Mail,
    options: AnyAskOptions,
    parent: Handling | undefined,
  ): AsyncGenerator<Output, void, undefined> {
    const mail = make();
    const deps = {
      nowMs: () => this.#thread.seams.clock.now(),
      onPull: this.#onPull,
      listeners: options,
    };
    const waiting = new WaitingStream<Output>(mail, parent, deps);
    this.#beginAsk(from, waiting, options);
    try {
      for (let next = await waiting.next(); next.done !== true; next = await waiting.next()) yield next.value;
    } finally {
      if (!waiting.isEnded) this.abandon(mail, cancelled(`The stream ${mail.id}`));
      else if (waiting.errorCode === 'NOT_SERIALISABLE') this.#thread.cancel(mail.id); // Its handler does not know.
    }
  }

  #beginAsk(from: Identity, waiting: WaitingAsk, options: AnyAskOptions): void {
    const { asked, owner: parent } = waiting;
    const { budget, onSpent } = options;
    const send = this.#sendOf(from, asked, { parent, manner: ASKED, budget, onSpent });
    const late = this.#late(send);
    if (late !== undefined) return waiting.fail(late);
    const why = this.#begin(send);
    if (why !== undefined) {
      this.#thread.log.refusal(from.party, asked, verdictOf(why), undefined);
      this.#end(send, undefined, why);
      return waiting.fail(why);
    }
    waiting.span = this.#spans?.takeOf(send);
    if (send.steps !== NO_STEPS) waiting.onOver = () => this.#end(send, undefined);
    this.#sendAsk(send, waiting, options, asked.timestamp);
  }

  #sendAsk(send: Send, waiting: WaitingAsk, options: AnyAskOptions, nowMs: number, isInTurn = false): void {
    const { asked: mail, owner } = waiting;
    const { signal, signalOfWait } = options;
    if (owner?.cutShort !== undefined) return waiting.fail(owner.cutShort);
    if (signal?.aborted === true || owner?.isOver === true)
      return waiting.fail(cancelled(`The ask of "${mail.recipient}"`));
    const isParking = options.whenFull === 'park';
    const startedMs = this.#startRouting(false);
    const row = this.#route(send, nowMs, isInTurn || !isParking);
    const routingMs = this.#routedSince(startedMs);
    if (row instanceof Unsent) {
      const { waitsFor } = row;
      if (waitsFor === undefined || (waitsFor === 'room' && !isParking))
        return waiting.fail(this.#refused(send, row));
      const { clock } = this.#thread.seams;
      const go = (): void => this.#sendAsk(send, waiting, options, clock.now(), waitsFor === 'room');
      const fail = (error: Error): void => waiting.fail(error);
      return this.#wait(send, row, { signal: signal ?? signalOfWait?.(), go, fail });
    }
    this.#open(waiting, row, options);
    this.#accept(send, row, routingMs);
  }

  /** From here on an answer ends it, or its deadline, its signal, the end of the work that it is asked from. */
  #open(waiting: WaitingAsk, row: AgentRow, { signal, onSent }: AskOptions): void {
    const thread = this.#thread;
    const { asked: mail, owner } = waiting;
    mail.ask = thread.asks.open(waiting);
    waiting.agentId = row.id;
    waiting.link = thread.links.to(row.place);
    // A channel keeps its own time: what its envelopes came to is what their recipient says.
    if (mail.extras?.channel === undefined)
      waiting.timer = thread.wheel.add(mail.deadlineAtMs, this.#onLate, waiting);
    if (signal !== undefined)
      waiting.release = onAbort(signal, () => this.abandon(mail, cancelled(`The ask of ${row.id}`)));
    owner?.waitsFor(waiting);
    if (onSent !== undefined) callOutside(onSent, mail.id);
  }

  /** The deadline of an ask has passed: what arrived meanwhile may be its answer. */
  readonly #onLate = ({ asked, agentId }: WaitingAsk): void => {
    this.#thread.links.readArrived();
    const late = deadlineExceeded(`The ask of ${agentId}`, asked.deadlineAtMs - asked.timestamp);
    this.#thread.asks.close(asked.ask)?.fail(late);
  };

  /** A stream was read so far that its handler may go on. */
  readonly #onPull = ({ asked, link }: WaitingAsk, count: number): void =>
    this.#thread.answers.pull(asked.ask, link, count);

  /** Stops waiting for the answer to an ask that is under way, and cancels what was asked. */
  abandon(mail: Mail, error: OrreryError): void {
    const waiting = this.#thread.asks.close(mail.ask);
    if (waiting === undefined) return;
    this.#thread.cancel(mail.id);
    waiting.fail(error);
  }

  // The way of each

  #sendOf(from: Identity, mail: Mail, options: SendOptions): Send {
    const { parent, manner, budget, funds = parent?.funds ?? from.funds, onSpent } = options;
    const send: Send = { from, mail, parent, manner, budget, funds, onSpent, steps: NO_STEPS };
    // Most have nothing that any feature has to do with.
    if (
      mail.extras !== undefined ||
      budget !== undefined ||
      funds !== undefined ||
      this.#spans !== undefined
    ) {
      const steps = this.#steps.filter((step) => step.concerns(send));
      if (steps.length > 0) send.steps = steps;
    }
    return send;
  }

  /** Has its steps begin; returns why it cannot be sent. */
  #begin(send: Send): OrreryError | undefined {
    if (send.steps === NO_STEPS) return undefined;
    for (const step of send.steps) {
      const why = step.begin(send);
      if (why !== undefined) return why;
    }
    return undefined;
  }

  /** Has its steps end: `row` has it; without one it was refused, or what was waited for is over. */
  #end(send: Send, row: AgentRow | undefined, fault?: SpanFault): void {
    if (send.steps !== NO_STEPS) for (const step of send.steps) step.end(send, row, fault);
  }

  /** Why it is not sent: the system stops, and this is not part of what was under way: no answer, caused by no envelope, and no actor needs it. */
  #late({ mail, parent }: Send): OrreryError | undefined {
    const { router } = this.#thread;
    if (router.isOpen) return undefined;
    const isUnderWay =
      mail.extras?.inReplyTo !== undefined ||
      (parent !== undefined && (parent.mail !== undefined || parent.cell.status !== 'running'));
    return isUnderWay && !router.isStopped ? undefined : stoppedError(mail);
  }

  /** Monotonic milliseconds, when this routing is measured, else NaN. */
  #startRouting(isMeasured: boolean): number {
    this.#routed += 1;
    if (this.#routed % MEASURE_EVERY !== 1 && !isMeasured && !this.#thread.log.isWhollyTold)
      return Number.NaN;
    return this.#thread.seams.clock.monotonicMs();
  }

  #routedSince(startedMs: number): number {
    if (Number.isNaN(startedMs)) return startedMs;
    const routingMs = this.#thread.seams.clock.monotonicMs() - startedMs;
    this.#thread.log.routed(routingMs);
    return routingMs;
  }

  /** The recipient, which has room for it; `isInTurn`: it does not stand behind those who wait for that. */
  #route({ from, mail, manner }: Send, nowMs: number, isInTurn: boolean): AgentRow | Unsent {
    const { judge, journal, outbox, room } = this.#thread;
    const row = judge.route(from.party, mail, manner, nowMs);
    if (row instanceof Unrouted) return this.#unrouted(mail, row);
    const unkept = journal?.refusal(row);
    if (unkept !== undefined) return new Unsent(unkept, row);
    const lane = laneFor(from, row, mail);
    if (!outbox.hasRoom(row, lane) || (!isInTurn && room.isAwaited(row, lane))) return noRoom(row);
    return row;
  }

  /** Where nobody here is meant somebody may be: the table is on its way, or other nodes are asked, from now on if they were not. */
  #unrouted(mail: Mail, { verdict, row }: Unrouted): Unsent {
    const { router, lookups } = this.#thread;
    if (row === undefined && router.isBehind) return new Unsent(verdict, undefined, 'table');
    const query = lookups && queryFor(mail, verdict.code);
    if (query !== undefined && lookups?.isWanted(query) === true)
      return new Unsent(verdict, undefined, query);
    return new Unsent(verdict, row);
  }

  /** Has it stand behind those who want the same room, table or agent of another node. */
  #wait(
    send: Send,
    unsent: Unsent,
    { signal, go, fail }: Pick<WaitingSend, 'go' | 'fail'> & { readonly signal?: AbortSignal | undefined },
  ): void {
    const { room, router, lookups } = this.#thread;
    const { from, mail, parent } = send;
    const { row, waitsFor } = unsent;
    const whyLeave = (nowMs: number): Error | undefined =>
      signal?.aborted === true
        ? cancelled(`What was to be sent to ${row?.id ?? mail.recipient}`)
        : whyNotWait(mail, unsent, parent, nowMs);
    const waiter = { go, whyLeave, fail };
    if (row !== undefined) return room.add(row, laneFor(from, row, mail), waiter);
    const isHeld =
      typeof waitsFor === 'object' ? lookups?.hold(waitsFor, waiter) === true : router.hold(waiter);
    if (!isHeld) fail(this.#refused(send, tooManyWait(mail)));
  }

  #deliver(send: Send, row: AgentRow, routingMs: number): RoutingResult {
    this.#accept(send, row, routingMs);
    this.#end(send, row);
    return deliveredResult(row, routingMs);
  }

  #accept({ from, mail, parent }: Send, row: AgentRow, routingMs: number): void {
    const { log, outbox } = this.#thread;
    log.traffic.note(TRAFFIC.sent, mail, mail.timestamp, row, routingMs);
    this.#count(mail);
    if (isCrossTier(from.party, row.party)) log.crossTier(from.party, row, mail);
    outbox.accept(row, laneFor(from, row, mail), mail, from.slot, parent);
  }

  #count(mail: Mail): void {
    const { counters } = this.#thread;
    const byType = COUNT.sentByType + mail.type;
    counters[byType] = (counters[byType] as number) + 1;
  }

  /** Sends a copy to everybody who may get it and has room; the result says who does, and why the others not. */
  #broadcast(send: Send, nowMs: number): RoutingResult {
    const thread = this.#thread;
    const { from, mail } = send;
    const startedMs = thread.seams.clock.monotonicMs();
    const recipients: string[] = [];
    const refused: { agentId: string; code: ErrorCode; reason: string }[] = [];
    let isFull = false;
    for (const row of thread.table.rows()) {
      if (row.id === from.id && !thread.broadcastToSender) continue;
      const unsent = this.#copyTo(row, send, nowMs);
      if (unsent === undefined) recipients.push(row.id);
      else refused.push({ agentId: row.id, code: unsent.verdict.code, reason: unsent.verdict.reason });
      isFull ||= unsent?.waitsFor === 'room';
    }
    const latencyMs = thread.seams.clock.monotonicMs() - startedMs;
    thread.log.routed(latencyMs);
    thread.log.traffic.note(TRAFFIC.sent, mail, mail.timestamp, undefined, latencyMs);
    this.#count(mail);
    this.#end(send, undefined); // Its copies were sent, which have accounts of their own.
    return {
      delivered: !isFull,
      path: 'broadcast',
      targetAgentId: BROADCAST,
      latencyMs,
      recipients,
      refused,
      ...(isFull
        ? { errorCode: 'MAILBOX_FULL' as const, error: 'Some mailboxes are full; see refused' }
        : {}),
    };
  }

  /** Sends one copy of a broadcast, which draws on the account of the original; or says why not. */
  #copyTo(row: AgentRow, { from, mail, parent }: Send, nowMs: number): Unsent | undefined {
    const { accounts, judge, log, outbox } = this.#thread;
    const lane = laneFor(from, row, mail);
    const verdict = judge.judge(from.party, row, mail, TOLD_ALL, nowMs);
    const isFull = verdict === undefined && !outbox.hasRoom(row, lane);
    const unsent = isFull ? noRoom(row) : verdict && new Unsent(verdict, row);
    if (unsent !== undefined) {
      log.refusal(from.party, mail, unsent.verdict, row);
      return unsent;
    }
    const copy = copyOf(mail);
    const unfunded = fundCopy(accounts, copy, mail);
    if (unfunded !== undefined) return new Unsent(verdictOf(unfunded), row);
    if (isCrossTier(from.party, row.party)) log.crossTier(from.party, row, mail);
    outbox.accept(row, lane, copy, from.slot, parent);
    return undefined;
  }

  #refuse(send: Send, unsent: Unsent, latencyMs = Number.NaN): RoutingResult {
    const { from, mail } = send;
    const { row } = unsent;
    const verdict = verdictAtOnce(unsent, mail);
    this.#end(send, undefined, verdict);
    this.#thread.log.refusal(from.party, mail, verdict, row, latencyMs);
    return refusedResult(row ?? mail.recipient, verdict, latencyOf(latencyMs));
  }

  #refused({ from, mail }: Send, { verdict, row }: Unsent): OrreryError {
    this.#thread.log.refusal(from.party, mail, verdict, row);
    const { code, reason, retryAfterMs } = verdict;
    const details = { recipient: row?.id ?? mail.recipient, sender: from.id };
    return new OrreryError(code, reason, {
      details: retryAfterMs === undefined ? details : { ...details, retryAfterMs },
    });
  }
}

/**
 * Call-backs have a lane of their own, so that an agent that waits can answer those it waits for. All of one channel goes in
 * one lane, or its order would be lost.
 */
function laneFor(from: Identity, row: AgentRow, mail: Mail): Lane {
  if (mail.path !== undefined && mail.extras?.channel === undefined && isOnPath(mail.path, row.id))
    return LANE.callback;
  return from.party.isSystem && from.id !== HOST_ID && from.id !== LOOP_ID ? LANE.system : LANE.user;
}

function isOnPath(path: readonly PathHop[], agentId: string): boolean {
  return path.length > 0 && path.some((hop) => hop.agent === agentId);
}

const NOBODY_HERE: ReadonlySet<ErrorCode> = new Set(['AGENT_NOT_FOUND', 'CAPABILITY_NOT_FOUND']);

/**
 * What other nodes are asked for `mail` that was refused here with `code`; undefined where they are not: somebody here is
 * meant, it answers somebody who has gone, or names none who could be an agent.
 */
function queryFor(mail: Mail, code: ErrorCode): RemoteQuery | undefined {
  const { recipient, extras } = mail;
  if (!NOBODY_HERE.has(code) || extras?.inReplyTo !== undefined || isSystemId(recipient)) return undefined;
  if (!AgentId.safeParse(recipient).success) return undefined;
  return queryOf(mail);
}

/** Runs it once when the signal aborts, until the returned function is called. */
function onAbort(signal: AbortSignal, run: () => void): () => void {
  signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
}
