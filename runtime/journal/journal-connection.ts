import { Fifo } from '../mailbox/fifo.ts';
import { type ErrorData, errorToData, type OrreryError, storeFailed } from '../protocol/errors.ts';
import type { StoreBatch } from '../protocol/store.ts';
import type { Port } from '../link/port.ts';
import { type Amount, charactersOf, type JournalAnswer, writeUnit } from './unit-format.ts';
import type { UnitOrder } from './unit-order.ts';

/** How much may be under way: posted, and not yet known to be written. At any of these the connection is full. */
const LIMITS: Readonly<Amount> = { units: 1_024, mails: 8_192, characters: 8 * 1_024 * 1_024 };

export interface JournalConnectionDeps {
  readonly port: Port;
  readonly order: UnitOrder;
  readonly limits?: Readonly<Amount>;
  /** It was full and is not any more. */
  readonly onRoom?: () => void;
  /** `failure` has changed. */
  readonly onFailure?: (failure: ErrorData | undefined) => void;
  /** The journal's thread has ended: nothing is written or answered any more. */
  readonly onEnd?: (error: OrreryError) => void;
}

interface Waiting {
  readonly mails: number;
  readonly characters: number;
  readonly done: (firstMail: number) => void;
}

/**
 * A thread's connection to the journal. It writes units: all of a unit survives, or nothing. A unit never survives without
 * those that its thread wrote before it, nor without those of other threads that caused it: a thread writes before it posts,
 * so its unit is in the same commit as what follows from it, or in an earlier one.
 */
export class JournalConnection {
  readonly #deps: JournalConnectionDeps;
  readonly #limits: Readonly<Amount>;
  readonly #waiting = new Fifo<Waiting>();
  #mails = 0;
  #characters = 0;
  #failure: ErrorData | undefined;
  #isClosed = false;

  constructor(deps: JournalConnectionDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? LIMITS;
    deps.port.onMessage((message) => this.#hear(message as JournalAnswer));
    deps.port.onClose(() => this.#end());
  }

  /** Units that are under way. */
  get outstanding(): number {
    return this.#waiting.length;
  }

  /** Nothing more is to be written until `onRoom`. */
  get isFull(): boolean {
    const { units, mails, characters } = this.#limits;
    return this.#waiting.length >= units || this.#mails >= mails || this.#characters >= characters;
  }

  /** What keeps the journal from writing at the moment: units wait meanwhile. Undefined when all is well. */
  get failure(): ErrorData | undefined {
    return this.#failure;
  }

  /**
   * Posts one unit, at once; the caller has seen that there is room. `done` is told the number of its first mail
   * when it survives the loss of power; units are done in the order of their writing. It is never called when the
   * journal ends before that. A unit that is not awaited may be written some milliseconds later, with others.
   */
  write(batch: StoreBatch, done: (firstMail: number) => void, isAwaited = true): void {
    if (this.#isClosed) return;
    const waiting = { mails: batch.mails.length, characters: charactersOf(batch), done };
    this.#deps.port.post(writeUnit({ order: this.#deps.order.next(), isAwaited, batch }));
    this.#waiting.push(waiting);
    this.#mails += waiting.mails;
    this.#characters += waiting.characters;
  }

  /** What is posted will still be written; nobody here is told. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
    this.#deps.port.close();
  }

  #hear(answer: JournalAnswer): void {
    if (this.#isClosed) return;
    if ('failure' in answer) {
      this.#fail(answer.failure ?? undefined);
      return;
    }
    const wasFull = this.isFull;
    for (const firstMail of answer) this.#settle(firstMail);
    if (wasFull && !this.isFull) this.#deps.onRoom?.();
  }

  #settle(firstMail: number): void {
    const unit = this.#waiting.shift();
    if (unit === undefined) return;
    this.#mails -= unit.mails;
    this.#characters -= unit.characters;
    unit.done(firstMail);
  }

  #fail(failure: ErrorData | undefined): void {
    this.#failure = failure;
    this.#deps.onFailure?.(failure);
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const error = storeFailed('journal', 'write', 'its thread has ended');
    this.#fail(errorToData(error));
    this.#deps.onEnd?.(error);
  }
}
