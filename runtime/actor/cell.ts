import type { InFlow } from '../mailbox/in-flow.ts';
import { LANE, type Lane } from '../mailbox/lane.ts';
import { isRetry, type Mail, messageTypeOf, NO_ASK } from '../mailbox/mail.ts';
import { type A2AMessageType, asksForWork } from '../protocol/envelope.ts';
import {
  actorDied,
  errorToData,
  isOrreryError,
  notHere,
  type OrreryError,
  poison,
  supervisorGaveUp,
  reasonOf,
} from '../protocol/errors.ts';
import type { AgentRow } from '../routing/routing-table.ts';
import type { Place } from '../threads/place.ts';
import { type ActorLife, PENDING } from './actor-life.ts';
import { Actor } from './actor.ts';
import type { AgentDefinition } from './agent-definition.ts';
import { CellDesk } from './cell-desk.ts';
import { CellMailbox, isAskOfAgent, isAwaited } from './cell-mailbox.ts';
import { CellOutcomes } from './cell-outcomes.ts';
import { Handling } from './handling.ts';
import { isThenable } from './is-thenable.ts';
import { cutOff } from './time-limit.ts';
import { MAX_ATTEMPTS, turnAway } from './turn-away.ts';

const DEFAULT_HANDLING_MS = 30_000;
const NO_HANDLINGS: readonly Handling[] = [];

/** Makes a cell's next actor. */
export type MakeActor = (cell: Cell) => ActorLife;

const inThisThread: MakeActor = (cell) => new Actor(cell);

/**
 * - `idle`     lazy, waiting for its first envelope
 * - `down`     its actor is dead; the supervisor decides
 * - `failed`   the supervisor gave up; what arrives is dead-lettered
 * - `stopped`  ended for good, likewise
 */
export type CellStatus = 'idle' | 'starting' | 'running' | 'down' | 'failed' | 'stopped';

/**
 * One agent in one thread: its mailbox, which outlives its actor, and the actor of the moment.
 *
 * Takes one envelope at a time; while a handler waits for an answer, call-backs that its ask caused are taken too.
 * Every envelope taken from the mailbox ends in exactly one outcome.
 */
export class Cell {
  readonly place: Place;
  readonly row: AgentRow;
  readonly definition: AgentDefinition<unknown>;
  readonly outcomes: CellOutcomes;
  status: CellStatus = 'down';
  /** Had an actor before, in this thread. */
  wasStarted = false;
  /** Waits in the thread's queue of cells that have something to do. */
  isQueued = false;
  /** Waits for the event loop to turn: whoever is still in hand then is watched. */
  isYoung = false;
  readonly #mailbox = new CellMailbox();
  #hand: Handling | undefined;
  #below: readonly Handling[] = NO_HANDLINGS;
  readonly #makeActor: MakeActor;
  #actor: ActorLife | undefined;
  #desk: CellDesk | undefined;
  #giveUpReason = '';
  #stopReason: OrreryError | undefined;
  /** The end of the actor before, as long as its `onStop` may still run. */
  #ending: Promise<void> | undefined;

  /** `makeActor`: where its code runs. @default in this thread */
  constructor(
    place: Place,
    row: AgentRow,
    definition: AgentDefinition<unknown>,
    makeActor: MakeActor = inThisThread,
  ) {
    this.#makeActor = makeActor;
    this.place = place;
    this.row = row;
    this.definition = definition;
    this.outcomes = new CellOutcomes(this);
  }

  /** Where attendants act for the agent. */
  get desk(): CellDesk {
    this.#desk ??= new CellDesk(this);
    return this.#desk;
  }

  get hasDesk(): boolean {
    return this.#desk !== undefined;
  }

  /** Says whether the agent itself handles what names this message type or capability. */
  handles(name: string): boolean {
    const { handlers, envelopeHandlers } = this.definition;
    return (
      handlers.has(name) || envelopeHandlers.has(name as A2AMessageType) || this.#actor?.takes(name) === true
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

  /** Envelopes in hand. */
  get inHand(): number {
    return (this.#hand === undefined ? 0 : 1) + this.#below.length;
  }

  get handlings(): readonly Handling[] {
    return this.#hand === undefined ? this.#below : [...this.#below, this.#hand];
  }

  /** Every envelope that is in hand or waits. */
  *mails(): Iterable<Mail> {
    for (const handling of this.handlings) if (handling.mail !== undefined) yield handling.mail;
    if (this.waiting > 0) yield* this.#mailbox;
  }

  get handlingTimeoutMs(): number {
    return this.definition.options.handlingTimeoutMs ?? DEFAULT_HANDLING_MS;
  }

  isRetry(mail: Mail): boolean {
    return isRetry(mail.extras, this.row.profile.delivery);
  }

  /** Puts an accepted envelope into its lane. */
  deliver(mail: Mail, lane: Lane): void {
    if (this.status === 'failed' || this.status === 'stopped') {
      this.outcomes.deadLetter(mail, mail.tombstone ?? errorToData(this.#endReason()));
      return;
    }
    if (this.place.attendance.takes(this, mail)) return this.outcomes.settle(mail, 'handled');
    this.#mailbox.put(mail, lane);
    if (this.#hand === undefined || lane === LANE.callback || this.#isMutual(mail))
      this.place.turns.wake(this);
    else this.#runAhead();
  }

  /** An ask of the handler in hand waits: its call-backs may be here already. */
  waits(): void {
    if (this.#mailbox.mayInterrupt) this.place.turns.wake(this);
  }

  /** Takes envelopes until `mayGoOn` says no, the mailbox is empty, or a handler takes its time. */
  run(mayGoOn: () => boolean): void {
    if (this.status === 'idle' && this.waiting > 0) this.place.startCell(this);
    while (this.status === 'running') {
      const mail = this.#next();
      if (mail === undefined) return this.#runAhead();
      if (this.#actor?.hasTaken?.(mail) === true) this.#takeUp(mail);
      else if (!turnAway(this, mail)) this.#handle(mail);
      if (!mayGoOn()) {
        if (this.status === 'running' && this.waiting > 0) this.place.turns.wake(this);
        return;
      }
    }
  }

  #next(): Mail | undefined {
    if (this.#hand === undefined) return this.#mailbox.take();
    if (!this.#mailbox.mayInterrupt || !this.#hand.isWaiting) return undefined;
    return this.#mailbox.takeBetween(this.handlings);
  }

  /** It is asked by an agent that it waits for itself: one of the two has to answer first. */
  #isMutual(mail: Mail): boolean {
    return this.#hand?.isWaiting === true && isAskOfAgent(mail) && isAwaited(mail.sender, this.handlings);
  }

  /** What the actor took ahead it may have handled by now: only that can be cancelled which it has not. */
  #takeUp(mail: Mail): void {
    this.#handle(mail);
    const cancellation = this.place.cancellations.reasonFor(mail);
    const handling = this.handlings.find((one) => one.mail === mail);
    if (cancellation !== undefined && handling !== undefined) cutOff(this, handling, cancellation);
  }

  /** Lets an actor whose code is elsewhere have what it will be given next. */
  #runAhead(): void {
    if (this.status === 'running') this.#actor?.runAhead?.(this.#mailbox);
  }

  #handle(mail: Mail): void {
    const handling = new Handling(this, mail);
    const flow = mail.flow as InFlow;
    mail.wasInHand = true;
    flow.start(mail.sequence);
    if (mail.ask === NO_ASK && asksForWork(messageTypeOf(mail)))
      this.place.judge.holdGrant(mail, this.row.id);
    if (this.#hand !== undefined) this.#below = [...this.#below, this.#hand];
    this.#hand = handling;
    const { place } = this;
    place.enterHandling(this.row.slot, flow, mail.sequence);
    let result: unknown;
    try {
      result =
        mail.extras?.channel === undefined
          ? (this.#actor as ActorLife).handle(mail, handling)
          : place.channels.handle(this, mail, handling);
    } catch (error) {
      place.leave();
      this.fail(handling, error);
      return;
    }
    place.leave();
    if (handling.isOver) return;
    if (result === PENDING) place.turns.goesOn(this);
    else if (isThenable(result)) {
      place.turns.goesOn(this);
      result.then(
        (value) => this.finish(handling, value),
        (error: unknown) => this.fail(handling, error),
      );
    } else this.finish(handling, result);
  }

  /** The handler is done and `output` is its answer. */
  finish(handling: Handling, output: unknown): void {
    if (handling.isOver) return;
    const mail = handling.mail as Mail;
    this.#letGo(handling);
    if (handling.cutShort !== undefined) this.outcomes.close(mail, 'expired', handling.cutShort);
    else this.outcomes.finish(mail, handling.entry, output);
    this.#goOn();
  }

  /** The handler threw: its actor is dead, unless that was a way to decline. */
  fail(handling: Handling, error: unknown): void {
    if (handling.isOver) return;
    const late = handling.cutShort;
    const declined = isOrreryError(error) && error.code !== 'ACTOR_DIED' ? error : undefined;
    const why = late ?? declined;
    if (why === undefined) return this.crash(error, handling);
    this.#letGo(handling);
    this.outcomes.close(handling.mail as Mail, late === undefined ? 'rejected' : 'expired', why);
    this.#goOn();
  }

  /** The actor is dead: what it had in hand is told or tried again, and the supervisor decides what is next. */
  crash(error: unknown, culprit: Handling | undefined): void {
    if (!this.#isAlive) return;
    const reason = reasonOf(error);
    void this.#die(reason, error, culprit).then(() => this.place.crashed(this, error));
  }

  /** Ends the actor because its group is restarted; its mailbox waits for the next one. */
  halt(): void {
    if (this.#isAlive) void this.#die('its group is restarted', undefined, undefined);
  }

  get #isAlive(): boolean {
    return this.status === 'running' || this.status === 'starting';
  }

  #die(reason: string, cause: unknown, culprit: Handling | undefined): Promise<void> {
    this.status = 'down';
    const handlings = [...this.handlings].reverse();
    for (const handling of handlings) {
      const mail = handling.mail as Mail;
      const hasBegun = this.#actor?.hasBegun(mail) !== false;
      if (handling === culprit) mail.attempts += 1;
      if (this.#mayTryAgain(mail)) handling.leaveAsks();
      this.#letGo(handling);
      if (hasBegun) this.#cutOffByDeath(mail, reason, cause);
      else this.#mailbox.putBack(mail);
    }
    this.#ending = this.#endActor(reason);
    return this.#ending;
  }

  /** The actor's logic came to its end: what it has in hand is handled. */
  exit(): void {
    if (!this.#isAlive) return;
    this.status = 'down';
    for (const handling of [...this.handlings].reverse()) this.finish(handling, undefined);
    this.#ending = this.#endActor('it came to its end');
    void this.#ending.then(() => this.place.exited(this));
  }

  #mayTryAgain(mail: Mail): boolean {
    return this.isRetry(mail) && mail.attempts < MAX_ATTEMPTS;
  }

  #cutOffByDeath(mail: Mail, reason: string, cause: unknown): void {
    if (!this.isRetry(mail))
      return this.outcomes.deadLetter(mail, errorToData(actorDied(this.row.id, reason, cause)));
    if (!this.#mayTryAgain(mail))
      return this.outcomes.deadLetter(mail, errorToData(poison(this.row.id, mail.attempts)));
    this.#mailbox.putBack(mail);
  }

  #letGo(handling: Handling): void {
    handling.end();
    if (handling.isWatched) this.place.turns.begin();
    if (this.#hand !== handling) this.#below = this.#below.filter((other) => other !== handling);
    else {
      this.#hand = this.#below.at(-1);
      if (this.#hand !== undefined) this.#below = this.#below.slice(0, -1);
    }
    if (this.#hand === undefined && this.place.turns.busy.size > 0) this.place.turns.busy.delete(this);
  }

  /** What was in hand is answered and settled: the next one may begin. */
  #goOn(): void {
    if (this.status !== 'running' || this.waiting === 0) return;
    // Logic answers in the middle of a transition, and would only queue the next event.
    if (this.definition.actorLogic === undefined) this.place.turns.resume(this);
    else this.place.turns.wake(this);
  }

  // Life

  /** Starts a new actor; resolves to whether it runs: it may be stopped meanwhile. Rejects when it did not start. */
  async start(): Promise<boolean> {
    if (this.#isAlive) return this.status === 'running';
    this.status = 'starting';
    this.wasStarted = true;
    await this.#ending;
    if (this.#actor?.isOver === false || !this.#isAlive) return false;
    const actor = this.#makeActor(this);
    this.#actor = actor;
    try {
      const state = await actor.start();
      if (actor.isOver || this.status !== 'starting') return false;
      actor.state = state;
    } catch (error) {
      if (actor.isOver || this.status !== 'starting') return false;
      actor.abandon();
      this.place.channels.ended(this);
      this.status = 'down';
      throw error;
    }
    this.status = 'running';
    if (this.waiting > 0) this.place.turns.wake(this);
    return true;
  }

  /** Makes the cell ready to start at its first envelope. */
  sleepUntilMail(): void {
    this.status = 'idle';
    if (this.waiting > 0) this.place.turns.wake(this);
  }

  /** The supervisor gave up: whatever waits or comes is dead-lettered. */
  giveUp(reason: string): void {
    this.#giveUpReason = reason;
    this.status = 'failed';
    this.#clear();
  }

  /** Ends the agent for good; what waits is dead-lettered. */
  async stop(reason = notHere(this.row.id, this.place.id)): Promise<void> {
    if (this.status === 'stopped') return this.#ending;
    this.#stopReason = reason;
    const wasAlive = this.#isAlive;
    this.status = 'stopped';
    for (const handling of [...this.handlings].reverse()) {
      const mail = handling.mail as Mail;
      handling.cutOff(reason);
      this.#letGo(handling);
      this.outcomes.deadLetter(mail, errorToData(reason));
    }
    this.#clear();
    if (wasAlive) this.#ending = this.#endActor('it was stopped');
    await this.#ending;
  }

  #clear(): void {
    const why = errorToData(this.#endReason());
    for (const mail of this.#mailbox.drain()) this.outcomes.deadLetter(mail, mail.tombstone ?? why);
  }

  #endReason(): OrreryError {
    if (this.status === 'failed') return supervisorGaveUp(this.row.id, this.#giveUpReason);
    return this.#stopReason ?? notHere(this.row.id, this.place.id);
  }

  async #endActor(reason: string): Promise<void> {
    this.place.attendance.ended(this);
    await this.#actor?.end();
    this.place.channels.ended(this);
    // Of what it had taken ahead it is known now what it had begun on.
    for (const mail of this.#mailbox.leftAhead()) {
      if (this.#actor?.hasBegun(mail) === true) this.#cutOffByDeath(mail, reason, undefined);
      else this.#mailbox.putBack(mail);
    }
  }
}
