import type { HandlerEntry } from '../agent/agent-definition.ts';
import {
  type AskOptions,
  bindContext,
  type HandlingContext,
  type Target,
  type TellOptions,
} from '../agent/context.ts';
import type { OffloadOptions } from '../agent/offload.ts';
import { HandlingBudget } from '../budget/handling-budget.ts';
import { type Funds, fundsOf } from '../budget/mail-account.ts';
import { type Mail, messageTypeOf, NO_ASK, toEnvelope } from '../mailbox/mail.ts';
import type { Budget, Cost } from '../protocol/budget.ts';
import { type A2AEnvelope, type A2AMessageType, asksForWork, type PathHop } from '../protocol/envelope.ts';
import {
  cancelled,
  deadlineExceeded,
  invalidOptions,
  notSerialisable,
  type OrreryError,
  withoutStack,
} from '../protocol/errors.ts';
import { hopsOf } from '../protocol/inheritance.ts';
import { copyJson, findUnserialisable } from '../protocol/json.ts';
import { requireFunction } from '../protocol/parse-options.ts';
import type { Requester } from '../protocol/requester.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';
import { sleepUntil } from '../protocol/sleep-until.ts';
import type { Taint } from '../protocol/taint.ts';
import type { Span } from '../protocol/tracer.ts';
import { declareClean, requireSource, absorbTaint, taintOn } from './cell-taint.ts';
import type { Cell } from './cell.ts';
import { Keeper } from './checkpoints.ts';
import type { Timer } from './timer-wheel.ts';
import type { WaitingAsk } from './waiting-asks.ts';

/** How long a handler may take to notice that its time is up before its actor is ended, if that does not say. */
const GRACE_MS = 100;

/** What is answered by what its handler returns; a proposal is not, and its grant lasts as long as what comes of it. */
const ANSWERED: ReadonlySet<A2AMessageType> = new Set(['request', 'stream-start']);

/**
 * One envelope in an agent's hands, or a start or stop without one: what the agent's code sees as `ctx`.
 *
 * Ends once, by the cell. From then on, or from when it was cut short, its asks are cancelled and what it sends is
 * refused.
 */
export class Handling implements HandlingContext<never> {
  readonly cell: Cell;
  readonly mail: Mail | undefined;
  /** What its agent has begun before it and after it, of what is still in hand. */
  before: Handling | undefined = undefined;
  after: Handling | undefined = undefined;
  /** What answers the capability of the envelope, if the agent declares it. */
  entry: HandlerEntry | undefined = undefined;
  timer: Timer | undefined = undefined;
  /** Of this attempt, where somebody traces. */
  span: Span | undefined = undefined;
  /** It takes longer than the turn in which it began. */
  isWatched = false;
  /** Set when the deadline passed or the envelope was cancelled: how its end is counted. */
  cutShort: OrreryError | undefined = undefined;
  isOver = false;
  /** The same, asked again meanwhile: each waits for the answer to this one. */
  repeats: Mail[] | undefined;
  #isGrantHeld = false;
  #children = 0;
  /** Asks without an answer. */
  #waitingFor: WaitingAsk[] | undefined;
  #abort: AbortController | undefined;
  #onCutShort: (() => void) | undefined;
  #envelope: A2AEnvelope | undefined;
  #childPath: readonly PathHop[] | undefined;
  #ownBudget: HandlingBudget | undefined;
  #ownKeeper: Keeper | undefined;
  /** What was sent from here and the journal does not have yet. */
  #unkept = 0;
  /** What is to be done when it has. */
  #whenKept: (() => void) | undefined;

  static {
    bindContext(Handling.prototype);
  }

  constructor(cell: Cell, mail: Mail | undefined) {
    this.cell = cell;
    this.mail = mail;
    if (mail !== undefined) mail.workTaint = mail.extras?.taint;
  }

  /** The agent has leave to answer the envelope in hand: once, whatever it says in between. */
  holdGrant(): void {
    if (this.#isGrantHeld || this.mail === undefined) return;
    this.#isGrantHeld = true;
    this.cell.thread.judge.holdGrant(this.mail, this.self);
  }

  /** What is sent answers the envelope of this id. */
  holdGrantFor(inReplyTo: string | undefined): void {
    if (inReplyTo !== undefined && inReplyTo === this.mail?.id) this.holdGrant();
  }

  get self(): string {
    return this.cell.row.id;
  }

  get state(): never {
    return this.cell.state as never;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.isOver) this.#abort.abort(cancelled(`The work of ${this.self}`));
      else if (this.cutShort !== undefined) this.#abort.abort(this.cutShort);
    }
    return this.#abort.signal;
  }

  /** The signal if somebody asked for it: making one costs. */
  get signalIfAny(): AbortSignal | undefined {
    return this.#abort?.signal;
  }

  /** Calls `tell` when its time is over or it is cancelled, as `signal` does: making that costs. */
  whenCutShort(tell: () => void): void {
    this.#onCutShort = tell;
  }

  get envelope(): A2AEnvelope {
    if (this.#envelope === undefined) {
      const mail = this.mail as Mail;
      const sender = this.cell.thread.judge.partyOf(mail.sender);
      this.#envelope = toEnvelope(mail, sender.tier, sender.sandboxId);
    }
    return this.#envelope;
  }

  get taint(): Taint | undefined {
    return taintOn(this.cell, this.mail);
  }

  get requester(): Requester | undefined {
    return this.mail?.extras?.requester;
  }

  markOutside(source: string): void {
    absorbTaint(this.cell, this.mail, [requireSource(source)]);
  }

  declareClean(reason: string): void {
    declareClean(this.cell, this.mail, reason);
  }

  now(): number {
    return this.cell.thread.seams.clock.now();
  }

  random(): number {
    return this.cell.thread.seams.random();
  }

  newId(): string {
    return this.cell.thread.seams.newId();
  }

  sleep(ms: number): Promise<void> {
    if (typeof ms !== 'number' || Number.isNaN(ms)) {
      return Promise.reject(invalidOptions('ms', ms, 'a number of milliseconds'));
    }
    return sleepUntil(this.cell.thread.seams.clock, ms, this.signal);
  }

  async effect<Result>(
    name: string,
    run: (signal: AbortSignal) => Result | Promise<Result>,
  ): Promise<Result> {
    requireFunction('run', run);
    this.signal.throwIfAborted();
    return await this.cell.thread.outside.effect(this, name, run);
  }

  offload<Input, Output>(module: URL, input: Input, options: OffloadOptions = {}): Promise<Output> {
    return this.cell.thread.outside.offload<Input, Output>(this, module, { ...options, input });
  }

  ask<Input, Output>(target: Target<Input, Output>, input: Input, options: AskOptions = {}): Promise<Output> {
    return this.cell.thread.mailSender.ask(this.cell.row, target, input, options, this);
  }

  stream<Input, Output>(
    target: Target<Input, Output>,
    input: Input,
    options: AskOptions = {},
  ): AsyncIterable<Output> {
    return this.cell.thread.mailSender.stream(this.cell.row, target, input, options, this);
  }

  tell(
    target: string | Target<unknown, unknown>,
    payload: unknown,
    options: TellOptions = {},
  ): RoutingResult {
    if (this.isOver || this.cutShort !== undefined) return this.#tooLate();
    return this.cell.thread.mailSender.tell(this.cell.row, target, payload, options, this);
  }

  async tellWhenRoom(
    target: string | Target<unknown, unknown>,
    payload: unknown,
    options: TellOptions = {},
  ): Promise<RoutingResult> {
    if (this.isOver || this.cutShort !== undefined) return this.#tooLate();
    return this.cell.thread.mailSender.tellWhenRoom(this.cell.row, target, payload, options, this);
  }

  get budget(): Budget {
    return this.#budget.left;
  }

  spend(cost: Cost): void {
    if (this.cutShort !== undefined) throw this.cutShort;
    if (this.isOver) throw cancelled(`The work of ${this.self}`);
    this.#budget.spend(cost);
  }

  refund(cost: Cost): void {
    this.#budget.refund(cost);
  }

  get #budget(): HandlingBudget {
    this.#ownBudget ??= new HandlingBudget(this.cell.thread.accounts, this.mail);
    return this.#ownBudget;
  }

  progress(fraction: number, note?: string): void {
    if (!Number.isFinite(fraction)) throw invalidOptions('fraction', fraction, 'a finite number');
    if (note !== undefined && typeof note !== 'string') throw invalidOptions('note', note, 'a text');
    if (this.isOver || this.mail === undefined) return;
    this.#keeper.fraction = fraction;
    this.cell.outcomes.progress(this.mail, fraction, note);
  }

  report(what: unknown): void {
    const fault = what === undefined ? { path: 'what', kind: 'undefined' } : findUnserialisable(what, 'what');
    if (fault !== undefined) throw notSerialisable(fault.path, fault.kind);
    if (this.isOver || this.mail === undefined) return;
    this.cell.outcomes.report(this.mail, this.#keeper.fraction, copyJson(what));
  }

  get resumeFrom(): unknown {
    const { mail, cell } = this;
    const taint = mail && cell.thread.checkpoints.taintOf(mail);
    if (taint !== undefined) absorbTaint(cell, mail, taint);
    return this.#keeper.resumeFrom;
  }

  checkpoint(partial: unknown): void {
    if (partial === undefined) throw invalidOptions('partial', partial, 'a value');
    if (!this.isOver) this.#keeper.keep(partial);
  }

  get #keeper(): Keeper {
    this.#ownKeeper ??= new Keeper(this.cell.outcomes, this.mail);
    return this.#ownKeeper;
  }

  reply(output: unknown): void {
    this.cell.finish(this, output);
  }

  settle(): void {
    this.cell.finish(this, undefined);
  }

  fail(error: unknown): void {
    this.cell.fail(this, error);
  }

  // What the mail sender inherits from.

  get correlationId(): string | undefined {
    return this.mail?.correlationId;
  }

  get deadlineAtMs(): number {
    return this.mail?.deadlineAtMs ?? 0;
  }

  /** What is sent from here draws on this. */
  get funds(): Funds | undefined {
    const { mail } = this;
    return mail?.extras?.budget === undefined ? undefined : fundsOf(mail);
  }

  /** The path of what is sent from here: the requests and proposals above, and this one if it is one. */
  get childPath(): readonly PathHop[] | undefined {
    if (this.#childPath !== undefined) return this.#childPath;
    const { mail } = this;
    if (mail === undefined) return undefined;
    const type = messageTypeOf(mail);
    if (!asksForWork(type)) return mail.path;
    const { id, payload, capability = type } = mail;
    this.#childPath = [...(mail.path ?? []), ...hopsOf({ id, type, payload, agent: this.self, capability })];
    return this.#childPath;
  }

  /** A second attempt sends the same ids again, so that whoever got them does not handle them twice. */
  get derivesIds(): boolean {
    return this.mail !== undefined && this.cell.isRetry(this.mail);
  }

  /** The id of the next envelope sent from here, if it is derived from the one in hand. */
  childId(): string | undefined {
    if (!this.derivesIds) return undefined;
    this.#children += 1;
    return `${(this.mail as Mail).id}~${this.#children.toString(36)}`;
  }

  /** So many more of what was sent from here wait for the journal, or fewer. */
  keeps(count: number): void {
    this.#unkept += count;
    if (this.#unkept > 0 || this.#whenKept === undefined) return;
    const go = this.#whenKept;
    this.#whenKept = undefined;
    if (!this.isOver) go();
  }

  /** Its handler is done, and what it sent waits for the journal. */
  get isDone(): boolean {
    return this.#whenKept !== undefined;
  }

  /** Something that was sent from here waits for the journal. */
  get isAwaitingJournal(): boolean {
    return this.#unkept > 0;
  }

  /** What was sent from here waits for the journal: `go` is called when it does not any more. False when nothing waits. */
  awaitsJournal(go: () => void): boolean {
    if (this.#unkept === 0) return false;
    this.#whenKept ??= go;
    return true;
  }

  repeat(again: Mail): void {
    this.repeats ??= [];
    this.repeats.push(again);
  }

  waitsFor(ask: WaitingAsk): void {
    this.#waitingFor ??= [];
    this.#waitingFor.push(ask);
    this.cell.waits();
  }

  /** An ask of this handling has its answer. */
  hasAnswer(ask: number): void {
    const waiting = this.#waitingFor;
    if (waiting === undefined) return;
    const at = waiting.findIndex(({ asked }) => asked.ask === ask);
    if (at >= 0) waiting.splice(at, 1);
  }

  /** Says whether `mail` is an ask that this handling waits for, or was caused by one. */
  hasCaused({ id, path }: Mail): boolean {
    const waiting = this.#waitingFor;
    if (waiting === undefined || path === undefined) return false;
    return waiting.some(
      ({ asked }) => asked.id === id || path.some(({ envelopeId }) => envelopeId === asked.id),
    );
  }

  /** Says whether it waits for an answer of this agent. */
  waitsForAgent(agentId: string): boolean {
    return this.#waitingFor?.some((one) => one.agentId === agentId) === true;
  }

  get isWaiting(): boolean {
    return this.#waitingFor !== undefined && this.#waitingFor.length > 0;
  }

  /** It takes longer than a turn: it has until the deadline of its envelope, or its agent's limit. */
  watch(): void {
    if (this.isWatched) return;
    this.isWatched = true;
    const { thread, handlingTimeoutMs } = this.cell;
    const { id, deadlineAtMs } = this.mail as Mail;
    const nowMs = thread.seams.clock.now();
    const untilMs = deadlineAtMs > 0 ? deadlineAtMs : nowMs + handlingTimeoutMs;
    this.timer = thread.wheel.add(untilMs, () =>
      this.cutOff(deadlineExceeded(`The handling of ${id} by ${this.self}`, untilMs - nowMs)),
    );
  }

  /** Tells its handler that its time is over; ends its actor if it does not listen. One that is done had time enough. */
  cutOff(reason: OrreryError): void {
    if (this.isOver || this.isDone) return;
    this.abort(reason);
    this.#onCutShort?.();
    this.timer?.cancel();
    const { thread, lives, definition } = this.cell;
    const graceMs = lives.current?.graceMs ?? definition.cutOffGraceMs ?? GRACE_MS;
    this.timer = thread.wheel.add(thread.seams.clock.now() + graceMs, () => {
      if (this.isOver || this.isDone) return;
      const why = `it did not stop ${graceMs} ms after ${reason.message}`;
      this.cell.crash(withoutStack(new Error(why)), this);
    });
  }

  /** Aborts the signal, and cancels everything that was asked from here. */
  abort(reason: OrreryError): void {
    this.cutShort ??= reason;
    this.#abort?.abort(reason);
    this.#cancelAsks(reason);
  }

  /** Ends the handling: what it still asks is cancelled. */
  end(): void {
    this.isOver = true;
    this.timer?.cancel();
    this.#endAnswered();
    if (this.isWaiting)
      this.#cancelAsks(cancelled(`The work of ${this.self} on ${this.mail?.id ?? 'its life'}`));
  }

  /** What an ask is answered with is the last reply to it; an envelope that was told may be answered later. */
  #endAnswered(): void {
    const { mail } = this;
    if (!this.#isGrantHeld || mail === undefined || mail.ask === NO_ASK || !ANSWERED.has(messageTypeOf(mail)))
      return;
    this.cell.thread.judge.endGrant(mail.id, this.self, mail.sender);
  }

  /** Stops waiting without cancelling: the next attempt asks the same again and gets the answers. */
  leaveAsks(): void {
    const reason = cancelled(`This attempt of ${this.self} on ${this.mail?.id ?? 'its life'}`);
    this.#closeAsks(reason, (envelopeId) => isDerivedId(envelopeId, this.mail));
  }

  #cancelAsks(reason: OrreryError): void {
    this.#closeAsks(reason, () => false);
  }

  #closeAsks(reason: OrreryError, isLeft: (envelopeId: string) => boolean): void {
    const waiting = this.#waitingFor;
    if (waiting === undefined) return;
    this.#waitingFor = undefined;
    for (const { asked } of waiting) {
      const record = this.cell.thread.asks.close(asked.ask);
      if (record === undefined) continue;
      if (isLeft(asked.id)) record.onOver = undefined;
      else this.cell.thread.cancel(asked.id);
      record.fail(reason);
    }
  }

  #tooLate(): RoutingResult {
    const { code, message } = this.cutShort ?? cancelled(`The work of ${this.self}`);
    return {
      delivered: false,
      path: 'local',
      targetAgentId: this.self,
      error: message,
      errorCode: code,
    };
  }
}

/** Says whether the id was made by `childId`, and will be made again. */
const isDerivedId = (id: string, mail: Mail | undefined): boolean =>
  mail !== undefined && id.startsWith(`${mail.id}~`);
