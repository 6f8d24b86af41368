import type { HandlerEntry } from '../agent/agent-definition.ts';
import { entryOf } from '../agent/find-handler.ts';
import { MAX_ATTEMPTS, type Mail, messageTypeOf, NO_ASK, typeIndex, REPLY } from '../mailbox/mail.ts';
import type { OutsiderKey } from '../mailbox/behalf.ts';
import { keyText } from '../mailbox/outsider.ts';
import { parseOutput } from '../protocol/capability.ts';
import {
  actorDied,
  deadlineExceeded,
  type ErrorData,
  errorToData,
  errorWithStack,
  handlerFailed,
  type OrreryError,
  outsiderRefused,
  poison,
} from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json.ts';
import type { Outcome } from '../protocol/system-event.ts';
import { mergeTaint, type Taint } from '../protocol/taint.ts';
import { taintOn } from './cell-taint.ts';
import type { CellThread } from './cell-thread.ts';
import { RepeatableMails } from './repeatable-mails.ts';
import type { Refusal } from '../supervision/outsiders.ts';
import type { Cell } from './cell.ts';

const REQUEST = typeIndex('request');

/** `taint`: where what the reason says came from outside. */
export interface Death {
  readonly reason: string;
  readonly cause?: unknown;
  readonly taint?: Taint | undefined;
}

/** How the handling of an envelope ended without an outcome; `isThrown`: its own handler threw `cause`. */
export interface CutOff extends Death {
  readonly isThrown?: boolean;
}

/** How the envelopes of one agent end: their asks are answered, their outcomes noted and told. */
export class CellOutcomes {
  readonly #cell: Cell;
  #repeatable: RepeatableMails | undefined;
  /** Whom outside the agent refuses, if it ever has. */
  #refused: RefusedOutsiders | undefined;

  constructor(cell: Cell) {
    this.#cell = cell;
  }

  get #thread(): CellThread {
    return this.#cell.thread;
  }

  get #agentId(): string {
    return this.#cell.row.id;
  }

  get repeatable(): RepeatableMails {
    this.#repeatable ??= new RepeatableMails(this.#cell);
    return this.#repeatable;
  }

  /** From now on, and for so long, the agent takes nothing that this outsider has caused. */
  refuse({ key, forMs }: Refusal): void {
    const nowMs = this.#thread.seams.clock.monotonicMs();
    this.#refused ??= new RefusedOutsiders();
    this.#refused.add(key, nowMs + forMs, nowMs);
  }

  /** For how much longer whoever outside caused the envelope is refused; undefined when they are not. */
  refusedForMs({ extras }: Mail): number | undefined {
    if (this.#refused === undefined || extras?.outsider === undefined) return undefined;
    return this.#refused.leftMs(extras.outsider.key, this.#thread.seams.clock.monotonicMs());
  }

  /** Ends an envelope that must not be handled any more; false when it may be. */
  rejectStale(mail: Mail): boolean {
    const { cancellations, turns } = this.#thread;
    const { deadlineAtMs } = mail;
    const cancellation = cancellations.reasonFor(mail);
    if (mail.tombstone !== undefined) this.deadLetter(mail, mail.tombstone);
    else if (mail.attempts >= MAX_ATTEMPTS)
      this.deadLetter(mail, errorToData(poison(this.#agentId, mail.attempts)));
    else if (deadlineAtMs > 0 && deadlineAtMs <= turns.nowMs) {
      const what = `${messageTypeOf(mail)} ${mail.id} to ${this.#agentId}`;
      this.close(mail, 'expired', deadlineExceeded(what, deadlineAtMs - mail.timestamp));
    } else if (cancellation !== undefined) this.close(mail, 'expired', cancellation);
    // What a sender's second attempt sent again was handled the first time.
    else if (mail.extras?.derived === true && !mail.wasInHand && this.settleRepeated(mail)) return true;
    else {
      const refusedForMs = this.refusedForMs(mail);
      if (refusedForMs === undefined) return false;
      this.close(mail, 'rejected', outsiderRefused(this.#agentId, refusedForMs));
    }
    return true;
  }

  /** Says whether a mail is tried again that a death has cut off, or over which its handler threw. */
  mayTryAgain(mail: Mail): boolean {
    return this.#cell.isRetry(mail) && mail.attempts < MAX_ATTEMPTS;
  }

  /** Ends what a death has cut off, or over which its handler threw; false when it is tried again. */
  endAttempt(mail: Mail, { reason, cause, taint, isThrown = false }: CutOff): boolean {
    if (this.mayTryAgain(mail)) {
      this.#repeatable?.forgetReports(mail);
      return false;
    }
    const ended = isThrown ? handlerFailed : actorDied;
    const why = this.#cell.isRetry(mail)
      ? poison(this.#agentId, mail.attempts, { reason, cause })
      : ended(this.#agentId, reason, cause);
    this.deadLetter(mail, { ...errorWithStack(why), ...(taint && { taint }) });
    return true;
  }

  /**
   * Ends an envelope that was handled: answers its ask, if it has one, with `output` as `entry` declares it. Returns why it was
   * rejected after all.
   */
  finish(mail: Mail, entry: HandlerEntry | undefined, output: unknown): OrreryError | undefined {
    if (mayBeAskedFor(mail)) {
      let answer = output;
      try {
        if (entry?.kind === 'value') answer = parseOutput(entry.capability, output, this.#agentId);
      } catch (error) {
        this.close(mail, 'rejected', error as OrreryError);
        return error as OrreryError;
      }
      this.reply(mail, answer === undefined ? REPLY.empty : REPLY.value, answer);
    }
    this.settle(mail, 'handled');
    return undefined;
  }

  /** Answers the ask behind `mail`; `former` is on an answer that was given before. */
  reply(mail: Mail, kind: number, payload: unknown, former?: Taint): void {
    const taint = mergeTaint(former, this.#taintOf(mail));
    if (mail.extras?.derived === true && kind !== REPLY.chunk)
      this.repeatable.remember(mail, kind, payload, taint);
    // Whoever gets its last answer finds what was not spent on it where it came from.
    if (kind !== REPLY.chunk) this.#thread.funding.settle(mail);
    if (mail.ask === NO_ASK) return;
    this.#thread.answers.give(mail, kind, payload, this.carries(mail), taint);
  }

  /** How what is answered to `mail` crosses to another thread. */
  carries({ capability }: Mail): 'json' | 'structured' | undefined {
    return entryOf(this.#cell.definition, capability)?.capability.carries;
  }

  progress(mail: Mail, fraction: number, note: string | undefined): void {
    this.#tellAskers(mail, [fraction, note ?? null], 'json', this.#taintOf(mail));
    this.#thread.log.progress(this.#agentId, mail, fraction, note);
  }

  /** Tells the asker something in between; whoever asks for the same again hears of it again. */
  report(mail: Mail, fraction: number, what: unknown, former?: Taint): void {
    this.#tellAskers(mail, [fraction, null, null, what], 'json', mergeTaint(former, this.#taintOf(mail)));
    if (mail.extras?.derived === true) this.repeatable.report(mail, what);
  }

  /** Tells whoever waits for the answer of what comes before it: the asker, and those who came after it and ask again. */
  #tellAskers(
    mail: Mail,
    said: readonly unknown[],
    carries: 'json' | 'structured' | undefined,
    taint: Taint | undefined,
  ): void {
    const { answers } = this.#thread;
    if (mail.ask !== NO_ASK) answers.give(mail, REPLY.progress, said, carries, taint);
    if (mail.extras?.derived !== true) return;
    for (const again of this.repeatable.askedAgain(mail))
      answers.give(again, REPLY.progress, said, carries, taint);
  }

  /** Tells whoever asks again that so much of what was reported is not known any more. */
  #skip(mail: Mail, dropped: number, former: Taint | undefined): void {
    const taint = mergeTaint(former, this.#taintOf(mail));
    this.repeatable.skipReports(mail, dropped);
    this.#thread.answers.give(mail, REPLY.progress, [1, null, null, null, dropped], 'json', taint);
  }

  /** What `mail` last kept. */
  lastCheckpoint(mail: Mail): unknown {
    return this.#thread.checkpoints.of(mail);
  }

  /** Keeps a partial result, and tells the asker; it has left this thread when this returns. */
  checkpoint(mail: Mail, fraction: number, partial: unknown): void {
    const { checkpoints, log, outbox } = this.#thread;
    const taint = this.#taintOf(mail);
    checkpoints.keep(mail, partial, taint);
    this.#tellAskers(mail, [fraction, null, checkpoints.of(mail)], this.carries(mail), taint);
    log.progress(this.#agentId, mail, fraction, 'a checkpoint');
    outbox.flush();
  }

  settle(mail: Mail, outcome: Outcome): void {
    this.#thread.settle(mail, outcome, this.#cell);
  }

  /** Ends an envelope that has not got what it asked for. */
  close(mail: Mail, outcome: Outcome, error: OrreryError): void {
    const why = errorWithStack(error, { ofMistakes: true });
    if (mayBeAskedFor(mail)) this.#replyError(mail, why, this.lastCheckpoint(mail));
    this.settle(mail, outcome);
    this.#thread.log.closed(this.#agentId, mail, outcome, why);
    if (outcome === 'rejected') this.#thread.interceptors.lost(this.#cell, mail, why);
  }

  #replyError(mail: Mail, { taint, ...error }: ErrorData, partial: unknown): void {
    const former = mergeTaint(taint, this.#thread.checkpoints.taintOf(mail));
    this.reply(mail, REPLY.error, withPartial(error, partial), former);
  }

  deadLetter(mail: Mail, why: ErrorData): void {
    const partial = this.lastCheckpoint(mail);
    if (mayBeAskedFor(mail)) this.#replyError(mail, why, partial);
    this.settle(mail, 'dead-lettered');
    this.#thread.log.deadLetter(mail, this.#agentId, why, partial);
    this.#thread.interceptors.lost(this.#cell, mail, why);
  }

  /** Says whether it is an ask that was taken before under the same id, and has no answer yet. */
  isRepeated({ ask, extras, sender, id }: Mail): boolean {
    if (ask === NO_ASK || extras?.derived !== true) return false;
    const known = this.#repeatable?.answerTo(sender, id);
    return known !== undefined && known.kind === undefined;
  }

  /**
   * Settles a mail that a sender's second attempt sent again; its ask gets the answer that the first one got. False when
   * it is new.
   */
  settleRepeated(mail: Mail): boolean {
    const answer = this.repeatable.recall(mail);
    if (answer === undefined) return false;
    if (mail.ask !== NO_ASK) {
      if (answer.kind === undefined) return false;
      if (answer.droppedReports !== undefined) this.#skip(mail, answer.droppedReports, answer.taint);
      for (const what of answer.reports ?? []) this.report(mail, 1, what, answer.taint);
      this.reply(mail, answer.kind, answer.payload, answer.taint);
    }
    this.settle(mail, 'handled');
    return true;
  }

  /** What is on whatever is said of the work at `mail`; on nothing, as long as nobody has begun on it. */
  #taintOf(mail: Mail): Taint | undefined {
    return mail.wasInHand ? taintOn(this.#cell, mail) : undefined;
  }
}

/**
 * Somebody waits for its answer; or asked in a former process or thread, and may ask again under the same id: a request that the
 * journal gave back does not say for whom it was answered.
 */
const mayBeAskedFor = ({ ask, wasLeft, kept, type, extras }: Mail): boolean =>
  ask !== NO_ASK || (extras?.derived === true && (wasLeft || (kept > 0 && type === REQUEST)));

/** An error crosses as JSON: of a partial result that cannot, the asker has what it was told. */
const withPartial = (error: ErrorData, partial: unknown): ErrorData =>
  partial === undefined || findUnserialisable(partial) !== undefined
    ? error
    : { ...error, details: { ...error.details, partial } };

/** Whom outside an agent refuses, and until when, by the monotonic clock: its supervisor says so, and nobody else. */
class RefusedOutsiders {
  readonly #untilMs = new Map<string, number>();

  add(key: OutsiderKey, untilMs: number, nowMs: number): void {
    for (const [name, endMs] of this.#untilMs) if (endMs <= nowMs) this.#untilMs.delete(name);
    this.#untilMs.set(keyText(key), untilMs);
  }

  /** For how much longer; undefined when they are not refused. */
  leftMs(key: OutsiderKey, nowMs: number): number | undefined {
    const untilMs = this.#untilMs.get(keyText(key));
    return untilMs === undefined || untilMs <= nowMs ? undefined : Math.ceil(untilMs - nowMs);
  }
}
