import type { Mail } from '../mailbox/mail.ts';
import type { Lane } from '../mailbox/lane.ts';
import type { WaitingSend } from '../mailbox/waiting-send.ts';
import { COUNT } from '../observe/thread-counters.ts';
import { latencyOf, TRAFFIC } from '../observe/traffic-ring.ts';
import type { Funds } from '../budget/mail-account.ts';
import type { Budget } from '../protocol/budget.ts';
import { BROADCAST } from '../protocol/envelope.ts';
import { agentNotFound, cancelled, deadlineExceeded, OrreryError } from '../protocol/errors.ts';
import type { Verdict } from '../protocol/policy.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';
import type { MailManner } from '../routing/mail-judge.ts';
import type { RemoteQuery } from '../routing/remote-lookup.ts';
import { type AgentRow, routingPathTo } from '../protocol/agent-row.ts';
import type { CellThread } from './cell-thread.ts';
import { broadcast } from './broadcast.ts';
import { callOutside } from '../agent/call-outside.ts';
import type { AskOptions, Target, TellOptions } from '../agent/context.ts';
import { Funding } from './funding.ts';
import type { Handling } from './handling.ts';
import type { Identity } from './identity.ts';
import { laneFor } from './lane-for.ts';
import { type LaterOptions, laterOptions, onAbort } from './later-options.ts';
import { queryFor } from './lookup-query.ts';
import { MailMaker } from './mail-maker.ts';
import {
  fullVerdict,
  heldVerdict,
  isUnderWay,
  isYetToCome,
  lookedUp,
  stoppedError,
  unknownYet,
  verdictOf,
  whyNotWait,
} from './send-verdicts.ts';
import type { WaitingAsk } from './waiting-ask.ts';
import { WaitingStream } from './waiting-stream.ts';
import { WaitingValue } from './waiting-value.ts';

const TOLD: MailManner = { isBroadcast: false, expectsReply: false };
const ASKED: MailManner = { isBroadcast: false, expectsReply: true };

/** Routing is measured this often: asking the time twice costs as much as routing. */
const MEASURE_EVERY = 16;

/**
 * Sends in the name of whoever lives in this thread: routes, judges, bounds, and waits for answers.
 *
 * What is sent while an envelope is handled inherits its deadline, path and correlation id, and only narrows them.
 */
export class MailSender {
  readonly #thread: CellThread;
  readonly #make: MailMaker;
  readonly #funding: Funding;
  /** Why `#route` found nobody. */
  #verdict: Verdict | undefined;
  /** Whom it would have been, or whose mailbox is full. */
  #meant: AgentRow | undefined;
  /** What other nodes are being asked for, where `#route` found nobody. */
  #query: RemoteQuery | undefined;
  /** From which handling what is sent now is sent. */
  #parent: Handling | undefined;
  #sends = 0;
  /** The next routing is measured. */
  #isMeasured = false;
  /** How long the last routing took; NaN where that was not measured. */
  #routingMs = Number.NaN;

  constructor(thread: CellThread) {
    this.#thread = thread;
    this.#make = new MailMaker(thread.seams.ids, () => thread.turns.stamp());
    this.#funding = new Funding(thread.accounts);
  }

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
    return this.#read(from, () => mail, laterOptions(options), on);
  }

  async *#read<Output>(
    from: Identity,
    make: () => Mail,
    options: AskOptions & LaterOptions,
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
      if (!waiting.isEnded) this.#abandon(mail, cancelled(`The stream ${mail.id}`));
      else if (waiting.errorCode === 'NOT_SERIALISABLE') this.#thread.cancel(mail.id); // Its handler does not know.
    }
  }

  tell(
    from: Identity,
    target: string | Target<unknown, unknown>,
    payload: unknown,
    options: TellOptions,
    parent: Handling | undefined,
  ): RoutingResult {
    const mail = this.#make.tell(from, target, payload, options, parent);
    parent?.holdGrantFor(options.inReplyTo);
    if (this.#isTooLate(mail, parent)) return this.#refuseLate(from, mail);
    return this.#sendFunded(from, mail, options.budget, { parent, nowMs: mail.timestamp, manner: TOLD });
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
      if (this.#isTooLate(mail, parent)) return resolve(this.#refuseLate(from, mail));
      const unfunded = this.#funding.give(mail, options.budget, from, parent);
      if (unfunded !== undefined) return resolve(this.#refusal(from, mail, verdictOf(unfunded), undefined));
      const { clock } = this.#thread.seams;
      const attempt = (nowMs: number, isInTurn: boolean): void => {
        this.#parent = parent;
        const result = this.#trySend(from, mail, nowMs, isInTurn);
        if (result !== undefined) return resolve(this.#funding.closeUnlessSent(mail, result));
        const isForRoom = this.#meant !== undefined;
        const go = (): void => attempt(clock.now(), isForRoom);
        const fail = (error: Error): void => {
          this.#funding.close(mail);
          reject(error);
        };
        this.#whenPossible(from, mail, { parent, signal: undefined, go, fail });
      };
      attempt(mail.timestamp, false);
    });
  }

  /**
   * Waits in the row of those who want room in the mailbox of `#meant`; without one, for the table that may have one, or for
   * what other nodes say.
   */
  #whenPossible(
    from: Identity,
    mail: Mail,
    {
      parent,
      signal,
      go,
      fail,
    }: Pick<WaitingSend, 'go' | 'fail'> & {
      readonly parent: Handling | undefined;
      readonly signal: AbortSignal | undefined;
    },
  ): void {
    const row = this.#meant;
    const query = this.#query;
    const unknown = query === undefined ? undefined : (this.#verdict as Verdict);
    const whyLeave = (nowMs: number): Error | undefined =>
      signal?.aborted === true
        ? cancelled(`What was to be sent to ${row?.id ?? mail.recipient}`)
        : whyNotWait(from, mail, { row, unknown, parent, nowMs });
    const waiter = { go, whyLeave, fail };
    if (row !== undefined) return this.#thread.room.add(row, laneFor(from, row, mail), waiter);
    const isHeld =
      query === undefined
        ? this.#thread.router.hold(waiter)
        : this.#thread.lookups?.hold(query, waiter) === true;
    if (!isHeld) fail(this.#refused(from, mail, heldVerdict(mail), undefined));
  }

  /**
   * Nobody here is meant so far, but somebody may be: the table is on its way, or other nodes are asked, from now on if they
   * were not. Then there is no `#meant`.
   */
  #isYetToCome(mail: Mail): boolean {
    const { router, lookups } = this.#thread;
    this.#query = undefined;
    if (isYetToCome(this.#meant, router)) return true;
    if (lookups === undefined) return false;
    const query = queryFor(mail, this.#verdict?.code);
    if (query === undefined || !lookups.isWanted(query)) return false;
    this.#query = query;
    this.#meant = undefined;
    return true;
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
    if (this.#isTooLate(mail, parent)) return this.#refuseLate(from, mail);
    const nowMs = this.#thread.seams.clock.now();
    const manner = expectsReply ? ASKED : TOLD;
    this.#isMeasured = true;
    return this.#sendFunded(from, mail, mail.extras?.budget, { parent, nowMs, manner, funds });
  }

  #sendFunded(
    from: Identity,
    mail: Mail,
    budget: Budget | undefined,
    {
      parent,
      nowMs,
      manner,
      funds,
    }: {
      readonly parent: Handling | undefined;
      readonly nowMs: number;
      readonly manner: MailManner;
      readonly funds?: Funds | undefined;
    },
  ): RoutingResult {
    this.#routingMs = Number.NaN;
    const unfunded = this.#funding.give(mail, budget, from, parent, funds);
    if (unfunded !== undefined) return this.#refusal(from, mail, verdictOf(unfunded), undefined);
    this.#parent = parent;
    const result = this.#trySend(from, mail, nowMs, true, manner);
    if (result !== undefined) return this.#funding.closeUnlessSent(mail, result);
    const row = this.#meant;
    const verdict = row === undefined ? this.#notYet(mail) : fullVerdict(row);
    return this.#funding.closeUnlessSent(mail, this.#refusal(from, mail, verdict, row));
  }

  #notYet(mail: Mail): Verdict {
    return this.#query === undefined ? unknownYet(mail) : lookedUp(mail);
  }

  /** `send`, once it is known whether other nodes have whom it is for, if nobody here is meant. */
  sendWhenFound(from: Identity, mail: Mail): Promise<RoutingResult> {
    return new Promise((resolve) => {
      const go = (): void => resolve(this.send(from, mail));
      if (this.#thread.lookups === undefined || !this.#isLookedUp(from, mail)) return go();
      const fail = (error: Error): void =>
        resolve(this.#refusal(from, mail, verdictOf(error as OrreryError), undefined));
      this.#whenPossible(from, mail, { parent: undefined, signal: undefined, go, fail });
    });
  }

  #isLookedUp(from: Identity, mail: Mail): boolean {
    if (mail.recipient === BROADCAST || this.#isTooLate(mail, undefined)) return false;
    const row = this.#find(from, mail, TOLD, this.#thread.seams.clock.now());
    return row === undefined && this.#isYetToCome(mail);
  }

  /** The system stops, and this is not part of what was under way. */
  #isTooLate(mail: Mail, parent: Handling | undefined): boolean {
    const { router } = this.#thread;
    return !router.isOpen && (router.isStopped || !isUnderWay(mail, parent));
  }

  #refuseLate(from: Identity, mail: Mail): RoutingResult {
    this.#routingMs = Number.NaN;
    return this.#refusal(from, mail, verdictOf(stoppedError(mail)), undefined);
  }

  /**
   * Undefined when it has to wait: the mailbox of `#meant` is full, or others wait for room in it and it is not this one's
   * turn; or there is no `#meant`, and the table is about to be replaced, or other nodes are being asked.
   */
  #trySend(
    from: Identity,
    mail: Mail,
    nowMs: number,
    isInTurn: boolean,
    manner: MailManner = TOLD,
  ): RoutingResult | undefined {
    const thread = this.#thread;
    if (mail.recipient === BROADCAST) return broadcast(thread, from, mail, nowMs, this.#parent);
    const row = this.#route(from, mail, manner, nowMs);
    if (row === undefined) {
      if (this.#isYetToCome(mail)) return undefined;
      return this.#refusal(from, mail, this.#verdict as Verdict, this.#meant);
    }
    const lane = laneFor(from, row, mail);
    if (thread.outbox.room(row, lane) <= 0 || (!isInTurn && thread.room.isAwaited(row, lane))) {
      this.#meant = row;
      return undefined;
    }
    this.#accept(from, row, lane, mail);
    thread.judge.useGrant(mail, from.id, row.id);
    return {
      delivered: true,
      path: routingPathTo(row),
      targetAgentId: row.id,
      ...latencyOf(this.#routingMs),
    };
  }

  /** Sends an ask that was made elsewhere as soon as there is room for it; `waiting` is told of its answer. */
  askLater(from: Identity, waiting: WaitingAsk, options: LaterOptions): void {
    this.#beginAsk(from, waiting, laterOptions(options));
  }

  #beginAsk(from: Identity, waiting: WaitingAsk, options: AskOptions & LaterOptions): void {
    const { asked, owner } = waiting;
    if (this.#isTooLate(asked, owner)) return waiting.fail(stoppedError(asked));
    const unfunded = this.#funding.give(asked, options.budget, from, owner);
    if (unfunded !== undefined) {
      this.#thread.log.refusal(from.party, asked, verdictOf(unfunded), undefined);
      return waiting.fail(unfunded);
    }
    if (asked.extras?.account !== undefined)
      waiting.onOver = () => this.#funding.close(asked, options.onSpent);
    this.#sendAsk(from, waiting, options, asked.timestamp);
  }

  #sendAsk(from: Identity, waiting: WaitingAsk, options: AskOptions, nowMs: number, isInTurn = false): void {
    const thread = this.#thread;
    const { asked: mail, owner } = waiting;
    const { signal } = options;
    if (owner?.cutShort !== undefined) return waiting.fail(owner.cutShort);
    if (signal?.aborted === true || owner?.isOver === true)
      return waiting.fail(cancelled(`The ask of "${mail.recipient}"`));
    const row = this.#route(from, mail, ASKED, nowMs);
    if (row === undefined) {
      if (!this.#isYetToCome(mail))
        return waiting.fail(this.#refused(from, mail, this.#verdict as Verdict, this.#meant));
      return this.#parkAsk(from, waiting, options);
    }
    const lane = laneFor(from, row, mail);
    const isParking = options.whenFull === 'park';
    if (thread.outbox.room(row, lane) <= 0 || (isParking && !isInTurn && thread.room.isAwaited(row, lane))) {
      if (!isParking) return waiting.fail(this.#refused(from, mail, fullVerdict(row), row));
      this.#meant = row;
      return this.#parkAsk(from, waiting, options);
    }
    mail.ask = thread.asks.open(waiting);
    waiting.agentId = row.id;
    waiting.link = thread.links.to(row.place);
    // A channel keeps its own time: what its envelopes came to is what their recipient says.
    if (mail.extras?.channel === undefined)
      waiting.timer = thread.wheel.add(mail.deadlineAtMs, this.#onLate, waiting);
    if (signal !== undefined) {
      waiting.release = onAbort(signal, () => this.#abandon(mail, cancelled(`The ask of ${row.id}`)));
    }
    owner?.waitsFor(waiting);
    if (options.onSent !== undefined) callOutside(options.onSent, mail.id);
    this.#parent = owner;
    this.#accept(from, row, lane, mail);
  }

  /** Asks again when there is room in the mailbox of `#meant`, the table that may have one, or what other nodes say. */
  #parkAsk(from: Identity, waiting: WaitingAsk, options: AskOptions): void {
    const { asked, owner: parent } = waiting;
    const isForRoom = this.#meant !== undefined;
    const go = (): void => this.#sendAsk(from, waiting, options, this.#thread.seams.clock.now(), isForRoom);
    const { signal } = options;
    this.#whenPossible(from, asked, { parent, signal, go, fail: (error) => waiting.fail(error) });
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

  /** Stops waiting and cancels what was asked. */
  #abandon(mail: Mail, error: OrreryError): void {
    const waiting = this.#thread.asks.close(mail.ask);
    if (waiting === undefined) return;
    this.#thread.cancel(mail.id);
    waiting.fail(error);
  }

  #accept(from: Identity, row: AgentRow, lane: Lane, mail: Mail): void {
    const thread = this.#thread;
    thread.log.traffic.note(TRAFFIC.sent, mail, mail.timestamp, row, this.#routingMs);
    const byType = COUNT.sentByType + mail.type;
    thread.counters[byType] = (thread.counters[byType] as number) + 1;
    if (from.party.tier !== row.party.tier && !from.party.isSystem && !row.party.isSystem) {
      thread.log.crossTier(from.party, row, mail);
    }
    thread.outbox.accept(row, lane, mail, from.slot, this.#parent);
  }

  /** The recipient; or undefined, and then `#verdict` says why. */
  #route(from: Identity, mail: Mail, manner: MailManner, nowMs: number): AgentRow | undefined {
    this.#sends += 1;
    if (this.#sends % MEASURE_EVERY !== 1 && !this.#isMeasured && !this.#thread.log.isTold) {
      this.#routingMs = Number.NaN;
      return this.#find(from, mail, manner, nowMs);
    }
    this.#isMeasured = false;
    const startedMs = this.#thread.seams.clock.monotonicMs();
    const row = this.#find(from, mail, manner, nowMs);
    this.#routingMs = this.#thread.seams.clock.monotonicMs() - startedMs;
    this.#thread.log.routed(this.#routingMs);
    return row;
  }

  #find(from: Identity, mail: Mail, manner: MailManner, nowMs: number): AgentRow | undefined {
    const thread = this.#thread;
    if (mail.extras?.routingHint === 'capability') {
      const { row, verdict, meant } = thread.judge.resolveCapability(from.party, mail, manner, nowMs);
      this.#verdict = verdict;
      this.#meant = meant;
      if (row === undefined || thread.journal === undefined) return row;
      this.#verdict = thread.journal.refusal(row);
      return this.#verdict === undefined ? row : undefined;
    }
    const row = thread.table.get(mail.recipient);
    this.#meant = row;
    this.#verdict =
      row === undefined
        ? verdictOf(agentNotFound(mail.recipient))
        : (thread.judge.judge(from.party, row, mail, manner, nowMs) ?? thread.journal?.refusal(row));
    return this.#verdict === undefined ? row : undefined;
  }

  #refusal(from: Identity, mail: Mail, verdict: Verdict, row: AgentRow | undefined): RoutingResult {
    const latencyMs = this.#routingMs;
    this.#routingMs = Number.NaN;
    this.#thread.log.refusal(from.party, mail, verdict, row, latencyMs);
    return {
      delivered: false,
      path: row === undefined ? 'local' : routingPathTo(row),
      targetAgentId: row?.id ?? mail.recipient,
      ...latencyOf(latencyMs),
      error: verdict.reason,
      errorCode: verdict.code,
      ...(verdict.retryAfterMs === undefined ? {} : { retryAfterMs: verdict.retryAfterMs }),
    };
  }

  #refused(from: Identity, mail: Mail, verdict: Verdict, row: AgentRow | undefined): OrreryError {
    this.#thread.log.refusal(from.party, mail, verdict, row);
    const { code, reason, retryAfterMs } = verdict;
    const details = { recipient: row?.id ?? mail.recipient, sender: from.id };
    return new OrreryError(code, reason, {
      details: retryAfterMs === undefined ? details : { ...details, retryAfterMs },
    });
  }
}
