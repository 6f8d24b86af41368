import type { Mail } from '../mailbox/mail.ts';
import {
  embedderError,
  type ErrorData,
  errorFromData,
  isOrreryError,
  OrreryError,
} from '../protocol/errors.ts';
import { isSystemId } from '../protocol/policy.ts';
import { copyJson } from '../protocol/json-copy.ts';
import { REPLY } from '../mailbox/reply.ts';
import type { Link } from '../link/link.ts';
import { callOutside } from '../agent/call-outside.ts';
import type { Taint } from '../protocol/taint.ts';
import { takeIn } from './cell-taint.ts';
import type { AskOptions } from '../agent/context.ts';
import type { Handling } from './handling.ts';
import type { Timer } from './timer-wheel.ts';

/** Who hears of what comes before the answer, or with it. */
export type AskListeners = Pick<AskOptions, 'onProgress' | 'onTaint'>;

/** Fraction and note; of a checkpoint, what it keeps; of a report, what it says. */
type ProgressData =
  | readonly [number, string | null]
  | readonly [number, null, unknown]
  | readonly [number, null, null, unknown]
  | readonly [number, null, null, null, number];

/** One ask of this thread that waits for its answer. */
export abstract class WaitingAsk {
  readonly asked: Mail;
  /** The handling that waits, if one does. */
  readonly owner: Handling | undefined;
  /** Whom it went to. */
  agentId = '';
  /** Where it went; undefined within the thread. */
  link: Link | undefined = undefined;
  timer: Timer | undefined = undefined;
  /** Takes the listener off the asker's own signal. */
  release: (() => void) | undefined = undefined;
  /** Called when it is over, before the asker learns of it. */
  onOver: (() => void) | undefined = undefined;
  /** Takes in for the agent what no handling of it waits for. */
  takesIn: ((taint: Taint) => void) | undefined = undefined;
  readonly #listeners: AskListeners;
  /** What the last checkpoint kept. */
  #partial: unknown;

  constructor(asked: Mail, owner: Handling | undefined, listeners: AskListeners) {
    this.asked = asked;
    this.owner = owner;
    this.#listeners = listeners;
  }

  /** What comes next, as a `REPLY` kind, came from outside. */
  tainted(taint: Taint, _kind: number): void {
    const { owner } = this;
    if (owner === undefined) this.takesIn?.(taint);
    else takeIn(owner.cell, owner.mail, taint);
    callOutside(this.#listeners.onTaint, taint);
  }

  /** The answer, as `REPLY` kinds. Returns true while more is to come. */
  answer(kind: number, payload: unknown): boolean {
    if (kind === REPLY.progress) {
      this.#progress(payload as ProgressData);
      return true;
    }
    if (kind !== REPLY.chunk) this.onOver?.();
    if (kind === REPLY.error) this.failed(this.#withPartial(this.#errorOf(payload as ErrorData)));
    else return this.answered(kind, payload);
    return false;
  }

  fail(error: Error): void {
    this.onOver?.();
    this.failed(this.#withPartial(error));
  }

  /** A value, a chunk or the end. Returns true while more is to come. */
  protected abstract answered(kind: number, payload: unknown): boolean;
  protected abstract failed(error: Error): void;

  /** Where it was thrown is for the embedder: agents are given code and message. */
  #errorOf(data: ErrorData): OrreryError {
    return isSystemId(this.asked.sender) ? embedderError(data) : errorFromData(data);
  }

  #progress(data: ProgressData): void {
    const [fraction, note] = data;
    const { onProgress } = this.#listeners;
    if (data.length === 5) callOutside(onProgress, { fraction, dropped: data[4] });
    else if (data.length === 4) callOutside(onProgress, { fraction, report: copyJson(data[3]) });
    else if (data.length === 3) {
      this.#partial = data[2];
      callOutside(onProgress, { fraction, partial: structuredClone(data[2]) });
    } else callOutside(onProgress, note === null ? { fraction } : { fraction, note });
  }

  /** However it failed: what the work came to is in the details. */
  #withPartial(error: Error): Error {
    const partial = this.#partial;
    if (partial === undefined || !isOrreryError(error) || error.details['partial'] !== undefined)
      return error;
    const { code, message, details, cause } = error;
    return new OrreryError(code, message, { details: { ...details, partial }, cause });
  }
}
