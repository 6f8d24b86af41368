import type { InFlow } from '../mailbox/in-flow.ts';
import {
  LANE,
  type Lane,
  isRetry,
  type Mail,
  type MailExtras,
  messageTypeOf,
  NO_ASK,
} from '../mailbox/mail.ts';
import { type A2AMessageType, asksForWork, BROADCAST } from '../protocol/envelope.ts';
import {
  type ErrorData,
  errorToData,
  isOrreryError,
  type LastError,
  notHere,
  type OrreryError,
  supervisorGaveUp,
  reasonOf,
} from '../protocol/errors.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import { READINESS, type Readiness } from '../routing/agent-status-memory.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import type { Refusal } from '../supervision/outsiders.ts';
import type { DiedOver } from '../supervision/supervisor.ts';
import type { CellThread } from './cell-thread.ts';
import type { ActorLife, MakeActor } from './actor-life.ts';
import { PENDING } from '../agent/pending.ts';
import type { AgentDefinition } from '../agent/agent-definition.ts';
import { CellClient } from './cell-client.ts';
import { CellLives } from './cell-lives.ts';
import { CellMailbox, isAskOfAgent, isAwaited } from './cell-mailbox.ts';
import { CellOutcomes, type CutOff, type Death } from './cell-outcomes.ts';
import { beginBeside, dispatch, taintOn } from './cell-taint.ts';
import { type CellEvent, type CellStatus, cellMachine, readinessOf } from './cell.machine.ts';
import { stepsOf } from '../machine/machine-steps.ts';
import { Handling } from './handling.ts';
import { handlingSpan } from './mail-spans.ts';
import { allInHand, takeInHand, takeOutOfHand, watchInHand } from './in-hand.ts';
import { isThenable } from '../protocol/promises.ts';
import type { SpanFault } from '../protocol/tracer.ts';

const DEFAULT_HANDLING_MS = 30_000;
/** A cell holds where its machine stands and no host of it: that would cost each of a hundred thousand 96 bytes. */
const steps = stepsOf(cellMachine);
const CELL = { machine: cellMachine.id };
const WITHOUT_ACTOR = steps.begin(undefined).snapshot;

/** How an actor died: `culprit` is the handling that it died over, `isThrown` says that its handler threw `cause`. */
interface DeathInHand extends Death {
  readonly culprit?: Handling | undefined;
  readonly isThrown?: boolean;
}

/**
 * One agent in one thread: its mailbox, which outlives its actor, and the actor of the moment.
 *
 * Takes as many envelopes at a time as its definition says, one by default; while handlers wait for answers,
 * call-backs that its ask caused are taken too. Every envelope taken from the mailbox ends in exactly one outcome.
 */
export class Cell {
  readonly thread: CellThread;
  readonly row: AgentRow;
  definition: AgentDefinition<unknown>;
  readonly lives: CellLives;
  readonly outcomes: CellOutcomes;
  /** Had an actor before, in this thread. */
  wasStarted = false;
  /** Waits in the thread's queue of cells that have something to do. */
  isQueued = false;
  /** Waits for the event loop to turn: whoever is still in hand then is watched. */
  isYoung = false;
  #life = WITHOUT_ACTOR;
  readonly #slot: number;
  /** What was last written of it where all threads read it. */
  #told: { readiness: Readiness; load: number } = { readiness: READINESS.awaited, load: 0 };
  /** How soon its code can be reached; elsewhere than in this thread that may be another than how the agent is. */
  #reach: Readiness = READINESS.live;
  readonly #mailbox = new CellMailbox();
  /** Of what is in hand, the newest. */
  #hand: Handling | undefined;
  #inHand = 0;
  #client: CellClient | undefined;
  #endReason: ErrorData | undefined;

  /** `makeActor`: where its code runs. @default in this thread */
  constructor(
    thread: CellThread,
    row: AgentRow,
    definition: AgentDefinition<unknown>,
    makeActor?: MakeActor,
  ) {
    this.thread = thread;
    this.row = row;
    this.definition = definition;
    this.lives = new CellLives(this, makeActor);
    this.outcomes = new CellOutcomes(this);
    this.#slot = row.slot;
    this.#writeWord();
  }

  get status(): CellStatus {
    return this.#life.value as CellStatus;
  }

  /** Something happened in the agent's life: what that makes of it only its machine says. */
  become(type: CellEvent['type']): void {
    const from = this.status;
    this.#life = steps.step(this.#life, { type }).snapshot;
    const { log } = this.thread;
    if (log.isTold)
      log.stepped(this.row.id, { ...CELL, actorId: this.row.id, event: type, from, to: this.status });
    this.#told.readiness = readinessOf(this.status, !this.wasStarted);
    this.#writeWord();
  }

  /** How soon its code, which is on another node, can be reached: others are told of no more. */
  reachIs(reach: Readiness): void {
    this.#reach = reach;
    this.#writeWord();
  }

  get #actor(): ActorLife | undefined {
    return this.lives.current;
  }

  /** Where interceptors act for the agent. */
  get client(): CellClient {
    this.#client ??= new CellClient(this);
    return this.#client;
  }

  get hasClient(): boolean {
    return this.#client !== undefined;
  }

  /** Says whether the agent itself handles what names this message type or capability. */
  handles(name: string): boolean {
    const { handlers, envelopeHandlers } = this.definition;
    return (
      handlers.has(name) ||
      envelopeHandlers.has(name as A2AMessageType) ||
      this.#actor?.accepts(name) === true
    );
  }

  /** What its actor keeps. */
  get state(): unknown {
    return this.#actor?.state;
  }

  /** Envelopes that wait. */
  get waiting(): number {
    return this.#mailbox.length;
  }

  /** Since when the first of those waits, Unix milliseconds. */
  get waitingSinceMs(): number | undefined {
    return this.#mailbox.oldestMs;
  }

  /** Envelopes in hand. */
  get inHand(): number {
    return this.#inHand;
  }

  /** What is in hand, oldest first. */
  get handlings(): readonly Handling[] {
    return allInHand(this.#hand);
  }

  /** The deadlines of what is in hand are watched from here on. */
  watch(): void {
    watchInHand(this.#hand);
  }

  /** Every envelope that is in hand or waits. */
  *mails(): Iterable<Mail> {
    for (const { mail, repeats } of this.handlings) {
      if (mail !== undefined) yield mail;
      if (repeats !== undefined) yield* repeats;
    }
    if (this.waiting > 0) yield* this.#mailbox;
  }

  get handlingTimeoutMs(): number {
    return this.definition.options.handlingTimeoutMs ?? DEFAULT_HANDLING_MS;
  }

  isRetry(mail: Mail): boolean {
    return isRetry(mail.extras, this.row.profile.delivery);
  }

  /** Whether what former processes left for it may still come: nothing newer is taken before. */
  expectLeft(isExpected: boolean): void {
    this.#mailbox.expectsLeft = isExpected;
    if (!isExpected) this.wakeIfWaiting();
  }

  /** What kept it from taking envelopes is over. */
  wakeIfWaiting(): void {
    if (this.waiting > 0) this.thread.turns.wake(this);
  }

  /** Puts an accepted envelope into its lane. */
  deliver(mail: Mail, lane: Lane): void {
    if (this.status === 'failed' || this.status === 'stopped') return this.#leaveOver(mail);
    const { isRelay } = this.definition;
    const isHandled =
      mail.extras?.channel === undefined
        ? !isRelay && this.thread.interceptors.accepts(this, mail)
        : this.thread.channels.hears(this, mail);
    if (isHandled) return this.outcomes.settle(mail, 'handled');
    if (mail.extras?.frame === true && !isRelay) this.#takeAsMail(mail);
    this.#mailbox.put(mail, lane);
    if (this.#hand === undefined || this.#hasRoom || lane === LANE.callback || this.#isMutual(mail))
      this.thread.turns.wake(this);
    else {
      this.#tellLoad();
      this.#runAhead();
    }
  }

  /** A message of a document that the agent has not opened is an envelope like any other, and judged as that. */
  #takeAsMail(mail: Mail): void {
    const { frame: _frame, ...extras } = mail.extras as MailExtras;
    mail.extras = extras;
    mail.tombstone ??= this.judgeAgain(mail);
  }

  /** Judges an envelope that was judged under an older table, or not at all; returns why it is refused. */
  judgeAgain(mail: Mail): ErrorData | undefined {
    const { judge, log, turns } = this.thread;
    const sender = judge.partyOf(mail.sender);
    const manner = {
      isBroadcast: mail.recipient === BROADCAST,
      expectsReply: mail.ask !== NO_ASK,
      wasGranted: true,
    };
    const verdict = judge.judge(sender, this.row, mail, manner, turns.nowMs);
    if (verdict === undefined) return undefined;
    log.refusal(sender, mail, verdict, this.row);
    return { code: verdict.code, message: verdict.reason };
  }

  /** An ask of the handler in hand waits: its call-backs may be here already. */
  waits(): void {
    if (this.#mailbox.mayInterrupt) this.thread.turns.wake(this);
  }

  /** It is asked by an agent that it waits for itself: one of the two has to answer first. */
  #isMutual(mail: Mail): boolean {
    return this.#hand?.isWaiting === true && isAskOfAgent(mail) && isAwaited(mail.sender, this.handlings);
  }

  // The loop

  /** Takes envelopes until `mayGoOn` says no, the mailbox is empty, or a handler takes its time. */
  run(mayGoOn: () => boolean): void {
    this.#tellLoad();
    for (let mail = this.#next(); mail !== undefined; mail = this.#next()) {
      if (this.#waitsForFirst(mail)) continue;
      if (this.#actor?.hasTaken?.(mail) === true) this.#dispatchTaken(mail);
      else if (!this.outcomes.rejectStale(mail)) this.#dispatch(mail);
      if (mayGoOn()) continue;
      if (this.waiting > 0 && this.#mayTake) this.thread.turns.wake(this);
      break;
    }
    this.#tellLoad();
  }

  /**
   * What comes next, as the status has it. Signals and stops do not wait for it: `crash`, `halt`, `exit`, `stop` and `refuse` are
   * done when they are called, and change the status. Of envelopes those that the actor has taken ahead are first, then the
   * system's, call-backs, what former processes left, and the others.
   */
  #next(): Mail | undefined {
    switch (this.status) {
      case 'idle':
        if (this.waiting > 0) this.thread.supervisor.start(this);
        return undefined;
      case 'running': {
        if (this.#hand !== undefined && !this.#hasRoom) return this.#between(this.#hand);
        // What it would do could not be kept at present: it takes nothing new.
        const mail = this.#isHeld ? this.#mailbox.takeTaken() : this.#mailbox.take();
        if (mail === undefined) this.#runAhead();
        return mail;
      }
      case 'finishing':
        return this.#hand === undefined ? this.#mailbox.takeTaken() : this.#between(this.#hand);
      case 'down':
      case 'starting':
      case 'changing':
      case 'parked':
      case 'failed':
      case 'stopped':
        return undefined;
    }
  }

  /** While a handler waits for answers: a call-back that its asks have caused, an ask of somebody whom it asks. */
  #between(hand: Handling): Mail | undefined {
    const mail =
      hand.isWaiting && this.#mailbox.mayInterrupt ? this.#mailbox.takeBetween(this.handlings) : undefined;
    if (mail === undefined) this.#runAhead();
    return mail;
  }

  get #mayTake(): boolean {
    return this.status === 'running' || (this.status === 'finishing' && !this.isAtRest);
  }

  /** Nothing is in hand, or in the hands of an actor that runs ahead. */
  get isAtRest(): boolean {
    return this.#hand === undefined && !this.#mailbox.hasTaken;
  }

  /** Something is in hand, and more may be. What is about to end takes no more. */
  get #hasRoom(): boolean {
    const { concurrency } = this.definition;
    return (
      concurrency > 1 && this.status === 'running' && this.inHand < concurrency && this.#mailbox.mayBeginNext
    );
  }

  /** What it would do could not be kept at present: it takes nothing new. */
  get #isHeld(): boolean {
    return this.thread.journal?.holds(this.row) === true;
  }

  /** What is in hand is asked again by its asker's next attempt: that waits until the first has its answer. */
  #waitsForFirst(mail: Mail): boolean {
    if (this.#hand === undefined || !this.outcomes.isRepeated(mail)) return false;
    const { id, sender } = mail;
    const first = this.handlings.find((one) => one.mail?.id === id && one.mail.sender === sender);
    first?.repeat(mail);
    return first !== undefined;
  }

  /** What the actor took ahead it may have handled by now: only that can be cancelled which it has not. */
  #dispatchTaken(mail: Mail): void {
    this.#dispatch(mail);
    const cancellation = this.thread.cancellations.reasonFor(mail);
    if (cancellation === undefined) return;
    this.handlings.find((one) => one.mail === mail)?.cutOff(cancellation);
  }

  /** Lets an actor whose code is elsewhere have what it will be given next. */
  #runAhead(): void {
    if (this.status === 'running' && !this.#isHeld) this.#actor?.runAhead?.(this.#mailbox);
  }

  /** Marks the envelope as begun on, and has the actor handle it: what that returns or throws is its outcome. */
  #dispatch(mail: Mail): void {
    const handling = this.#begin(mail);
    const { thread } = this;
    thread.running.enterHandling(this.row.slot, mail.flow as InFlow, mail.sequence);
    let result: unknown;
    try {
      const { span } = handling;
      result =
        span === undefined ? this.#handle(mail, handling) : span.run(() => this.#handle(mail, handling));
    } catch (error) {
      thread.running.leave();
      this.fail(handling, error);
      return;
    }
    thread.running.leave();
    if (handling.isOver) return;
    if (result === PENDING) thread.turns.goesOn(this);
    else if (isThenable(result)) {
      thread.turns.goesOn(this);
      result.then(
        (value) => this.finish(handling, value),
        (error: unknown) => this.fail(handling, error),
      );
    } else this.finish(handling, result);
  }

  #handle(mail: Mail, handling: Handling): unknown {
    const actor = this.#actor as ActorLife;
    return mail.extras === undefined ? actor.handle(mail, handling) : dispatch(this, mail, handling);
  }

  /** From here on the envelope is in hand, and a death is told, not repeated. */
  #begin(mail: Mail): Handling {
    const handling = new Handling(this, mail);
    const flow = mail.flow as InFlow;
    mail.wasInHand = true;
    flow.start(mail.sequence);
    flow.blame(mail.sequence, mail.extras?.outsider, mail.attempts > 0);
    const { tracer } = this.thread.seams;
    if (tracer !== undefined) handling.span = handlingSpan(tracer, this, mail);
    this.thread.journal?.begins(this, mail);
    if (mail.ask === NO_ASK && asksForWork(messageTypeOf(mail))) handling.holdGrant();
    this.#hand = takeInHand(this.#hand, handling);
    this.#inHand += 1;
    if (this.definition.concurrency > 1) beginBeside(this, mail);
    return handling;
  }

  /** The handler is done and `output` is its answer. */
  finish(handling: Handling, output: unknown): void {
    if (handling.isOver) return;
    if (handling.isAwaitingJournal && this.#awaitsJournal(handling, () => this.finish(handling, output)))
      return;
    const mail = handling.mail as Mail;
    this.#letGo(handling);
    let fault = handling.cutShort;
    if (fault !== undefined) this.outcomes.close(mail, 'expired', fault);
    else fault = this.outcomes.finish(mail, handling.entry, output);
    handling.span?.end(fault);
    this.#goOn();
  }

  /**
   * The handler threw. With a code it has declined, whoever's failure that tells of; else its actor is dead, unless the agent
   * is one whose actors live on.
   */
  fail(handling: Handling, error: unknown): void {
    if (handling.isOver) return;
    const late = handling.cutShort;
    const why = late ?? (isOrreryError(error) ? error : undefined);
    if (why === undefined) {
      if (this.definition.options.onThrow === 'keep') this.#outlive(error, handling);
      else this.crash(error, handling, true);
      return;
    }
    if (this.#awaitsJournal(handling, () => this.fail(handling, error))) return;
    this.#letGo(handling);
    handling.span?.end(why);
    this.outcomes.close(handling.mail as Mail, late === undefined ? 'rejected' : 'expired', why);
    this.#goOn();
  }

  /** What a handler sent is kept before what it sent it for is settled. */
  #awaitsJournal(handling: Handling, go: () => void): boolean {
    if (!handling.awaitsJournal(go)) return false;
    this.thread.turns.goesOn(this);
    return true;
  }

  /** Its handler threw and nothing else has happened: the envelope is told or tried again, and the actor goes on. */
  #outlive(error: unknown, handling: Handling): void {
    this.#cutOffOne(handling, { reason: reasonOf(error), cause: error, isThrown: true });
  }

  /** What was done of it elsewhere is not known any more: the envelope is told or tried again, and the actor goes on. */
  lose(handling: Handling, reason: string): void {
    if (!handling.isOver) this.#cutOffOne(handling, { reason });
  }

  /** It has reached nobody, and nobody will get it: it is a dead letter, and whoever asked is told. */
  deadLetter(handling: Handling, why: OrreryError): void {
    if (handling.isOver) return;
    if (handling.cutShort !== undefined) return this.fail(handling, why);
    if (this.#awaitsJournal(handling, () => this.deadLetter(handling, why))) return;
    this.#letGo(handling);
    handling.span?.end(why);
    this.outcomes.deadLetter(handling.mail as Mail, errorToData(why));
    this.#goOn();
  }

  #cutOffOne(handling: Handling, cutOff: CutOff): void {
    if (this.#awaitsJournal(handling, () => this.#cutOffOne(handling, cutOff))) return;
    const mail = handling.mail as Mail;
    mail.attempts += 1;
    if (this.outcomes.mayTryAgain(mail)) {
      handling.leaveAsks();
      if (cutOff.cause !== undefined) this.thread.log.error(this.row.id, cutOff.cause);
    }
    this.#letGo(handling);
    handling.span?.end(faultOf(cutOff));
    this.#endAttempt(mail, cutOff);
    this.#goOn();
  }

  /**
   * The actor is dead: what it had in hand is told or tried again, and the supervisor decides what is next. `isThrown`: the
   * handler of `culprit` threw `error`.
   */
  crash(error: unknown, culprit: Handling | undefined, isThrown = false): void {
    if (!this.#isAlive) return;
    const reason = reasonOf(error);
    const taint = taintOn(this, culprit?.mail);
    const over = diedOver(culprit?.mail);
    void this.#die({ reason, cause: error, taint, culprit, isThrown }).then(() =>
      this.thread.supervisor.crashed(this, error, taint, { over }),
    );
  }

  /** From now on, and for so long, it takes nothing that this outsider has caused. */
  refuse(refusal: Refusal): void {
    this.outcomes.refuse(refusal);
  }

  /** Ends the actor because its group is restarted; its mailbox waits for the next one. */
  halt(): void {
    if (this.#isAlive) void this.#die({ reason: 'its group is restarted' });
  }

  get #isAlive(): boolean {
    return this.status === 'running' || this.status === 'starting' || this.status === 'finishing';
  }

  #die(death: DeathInHand): Promise<void> {
    this.become('actor.died');
    this.cutOffInHand(death);
    // What is told of it is on its way before `onStop` has its chance to end the thread.
    this.thread.outbox.flush();
    return this.endActor(death);
  }

  /** Ends what is in hand as a death does. What is done, and waits for the journal, needs no actor any more. */
  cutOffInHand({ reason, cause, taint, culprit, isThrown = false }: DeathInHand): void {
    for (const handling of [...this.handlings].reverse()) {
      if (handling.isDone) continue;
      const mail = handling.mail as Mail;
      const hasBegun = this.#actor?.hasBegun(mail) !== false;
      if (handling === culprit) mail.attempts += 1;
      if (this.outcomes.mayTryAgain(mail)) handling.leaveAsks();
      this.#letGo(handling);
      const its = { reason, cause, taint, isThrown: isThrown && handling === culprit };
      handling.span?.end(faultOf(its));
      if (hasBegun) this.#endAttempt(mail, its);
      else this.#mailbox.putBack(mail);
    }
    this.#tellLoad();
  }

  /** What a death has cut off, or over which its handler threw, goes back into the mailbox, in front, or ends. */
  #endAttempt(mail: Mail, cutOff: CutOff): void {
    if (!this.outcomes.endAttempt(mail, cutOff)) this.#mailbox.putBack(mail);
  }

  /** The actor's logic came to its end: what it has in hand is handled. */
  exit(): void {
    if (!this.#isAlive) return;
    this.become('actor.died');
    const over = diedOver(this.#hand?.mail);
    for (const handling of [...this.handlings].reverse()) this.finish(handling, undefined);
    void this.endActor({ reason: 'it came to its end' }).then(() =>
      this.thread.supervisor.exited(this, over),
    );
  }

  #letGo(handling: Handling): void {
    handling.end();
    if (handling.repeats !== undefined) for (const again of handling.repeats) this.#mailbox.putBack(again);
    if (handling.isWatched) this.thread.turns.begin();
    this.#hand = takeOutOfHand(this.#hand, handling);
    this.#inHand -= 1;
    if (this.#hand !== undefined) return;
    if (this.thread.turns.busy.size > 0) this.thread.turns.busy.delete(this);
    if (this.status !== 'finishing') return;
    if (this.isAtRest) this.lives.rested();
    else this.thread.turns.wake(this);
  }

  /** What was in hand is answered and settled: the next one may begin. */
  #goOn(): void {
    // It was given up while this waited for the journal: who has asked for the same again has its answer.
    if (this.status === 'failed') return this.#clear((mail) => this.outcomes.rejectStale(mail));
    if (this.status !== 'running' || this.waiting === 0) return this.#tellLoad();
    // Logic answers in the middle of a transition, and would only queue the next event.
    if (this.definition.actorLogic === undefined) this.thread.turns.resume(this);
    else this.thread.turns.wake(this);
  }

  // Life

  /**
   * Starts a new actor, from what one before it has left, if there is such; resolves to whether it runs: it may be stopped
   * meanwhile. Rejects when it did not start.
   */
  async start(from?: Snapshot): Promise<boolean> {
    if (this.#isAlive) return this.status === 'running';
    if (from === undefined && (this.status === 'changing' || this.status === 'parked')) return false;
    this.become('actor.starting');
    // What others are told of the first start is not what they are told of the next.
    this.wasStarted = true;
    try {
      if (!(await this.lives.begin(from))) return false;
    } catch (error) {
      this.become('actor.failed');
      throw error;
    }
    this.become('actor.started');
    this.goOn();
    return true;
  }

  /** It runs: it takes envelopes from now on. */
  goOn(): void {
    // This actor has it.
    this.lives.nextTaint = undefined;
    if (this.waiting > 0) this.thread.turns.wake(this);
  }

  /** Makes the cell ready to start at its first envelope. */
  sleepUntilMail(): void {
    this.become('mail.awaited');
    if (this.waiting > 0) this.thread.turns.wake(this);
  }

  /** It waits with its state for code that can go on with it. */
  park(): void {
    this.become('state.parked');
  }

  /** The supervisor gave up: whatever waits or comes is dead-lettered. */
  giveUp(last: LastError): void {
    this.#endReason = supervisorGaveUp(this.row.id, last);
    this.become('supervisor.gaveUp');
    this.#clear();
  }

  /** Ends the agent for good; what waits is dead-lettered. */
  async stop(reason = notHere(this.row.id, this.thread.id)): Promise<void> {
    if (this.status === 'stopped') return this.lives.ending;
    this.#endReason = errorToData(reason);
    const wasAlive = this.#isAlive;
    this.become('agent.stopped');
    for (const handling of [...this.handlings].reverse()) {
      const mail = handling.mail as Mail;
      handling.abort(reason);
      this.#letGo(handling);
      this.outcomes.deadLetter(mail, errorToData(reason));
    }
    this.#clear();
    await (wasAlive ? this.endActor({ reason: 'it was stopped' }) : this.lives.ending);
  }

  /** Ends all that waits; `endsOtherwise` says of a mail whether it has given it another outcome. */
  #clear(endsOtherwise: (mail: Mail) => boolean = () => false): void {
    for (const mail of this.#mailbox.drain()) if (!endsOtherwise(mail)) this.#leaveOver(mail);
    this.#tellLoad();
  }

  /** Ends a mail that nobody takes any more. */
  #leaveOver(mail: Mail): void {
    this.outcomes.deadLetter(mail, mail.tombstone ?? this.#lastWord);
  }

  /** Has all threads know its load; once a turn, not for each envelope. */
  #tellLoad(): void {
    const load = this.inHand + this.waiting;
    if (load === this.#told.load) return;
    this.#told.load = load;
    this.#writeWord();
  }

  #writeWord(): void {
    const { readiness, load } = this.#told;
    this.thread.agentStatus.write(this.#slot, Math.min(readiness, this.#reach) as Readiness, load);
  }

  get #lastWord(): ErrorData {
    return this.#endReason ?? errorToData(notHere(this.row.id, this.thread.id));
  }

  /** Ends the actor with its `onStop`; of what it had taken ahead it is known then what it had begun on. */
  endActor({ reason, taint }: Death): Promise<void> {
    return this.lives.end(() => {
      for (const mail of this.#mailbox.leftAhead()) {
        if (this.#actor?.hasBegun(mail) === true) this.#endAttempt(mail, { reason, taint });
        else this.#mailbox.putBack(mail);
      }
      this.#tellLoad();
    });
  }
}

const faultOf = ({ isThrown }: CutOff): SpanFault => ({
  code: isThrown === true ? 'HANDLER_FAILED' : 'ACTOR_DIED',
});

const diedOver = (mail: Mail | undefined): DiedOver | undefined =>
  mail && { outsider: mail.extras?.outsider, isAgain: mail.attempts > 0 };
