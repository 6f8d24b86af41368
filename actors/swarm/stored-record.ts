import type { BackOff } from '../../runtime/protocol/back-off.ts';
import { backOffMs } from '../../runtime/protocol/back-off-ms.ts';
import { isOrreryError } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import { type SwarmRecord, withTaint } from './swarm-record.ts';
import type { SwarmSession } from './swarm-session.ts';

/**
 * - `save`     keeps a record in a store.
 * - `onChange` hears of every change.
 * - `onFailed` hears what the store throws, or rejects with, where nobody waits for it.
 * - `taint`    where what is written now came from outside.
 */
export interface StoredRecordDeps {
  readonly clock: Pick<Clock, 'setTimer'>;
  readonly taint?: (() => Taint | undefined) | undefined;
  readonly save: (record: SwarmRecord) => void | Promise<void>;
  readonly onChange: (session: SwarmSession) => void;
  readonly onFailed: (error: unknown) => void;
}

/** How long is waited before a store is tried again that did not take something. */
const BACK_OFF: BackOff = { firstMs: 50, maxMs: 2_000, factor: 2, jitter: 0 };

const waitMsAfter = (failures: number): number => backOffMs(BACK_OFF, failures, () => 0);

/** A swarm's record, and the order of what is done: nothing that follows from a change is done before it is kept. */
export class StoredRecord {
  readonly #deps: StoredRecordDeps;
  #current: SwarmRecord;
  /** What becomes of it in changes that are kept together. */
  #draft: SwarmRecord | undefined;
  /** Resolves when all that was changed so far is kept. */
  #saving: Promise<void> | undefined;
  /** Of what is tried again. */
  readonly #timers = new Set<() => void>();
  #isClosed = false;

  constructor(deps: StoredRecordDeps, record: SwarmRecord) {
    this.#deps = deps;
    this.#current = record;
  }

  get current(): SwarmRecord {
    return this.#draft ?? this.#current;
  }

  /** Throws what the store does that cannot keep it; then nothing has changed. */
  change(record: SwarmRecord): void {
    this.note(record);
    if (this.#draft === undefined) this.#deps.onChange(this.#current.session);
  }

  /** Keeps all changes that are made meanwhile as one: nobody sees one without the other. */
  together(make: () => void): void {
    this.#draft = this.#current;
    let made = this.#current;
    try {
      make();
      made = this.#draft;
    } finally {
      this.#draft = undefined;
    }
    this.change(made);
  }

  /** Keeps what nobody sees of the swarm. */
  note(record: SwarmRecord): void {
    if (this.#draft !== undefined) {
      this.#draft = record;
      return;
    }
    const marked = withTaint(record, this.#deps.taint?.());
    const saving = this.#deps.save(marked);
    this.#current = marked;
    if (saving !== undefined) this.#await(saving);
  }

  /** Calls `then` when everything up to here is kept: at once, if it is. */
  whenSaved(then: () => void): void {
    if (this.#saving === undefined) then();
    else void this.#saving.then(() => this.attempt(then));
  }

  // What nobody waits for

  /** Does something that nobody waits for: what the store throws is told to whoever watches. False when it did. */
  attempt(step: () => void): boolean {
    return this.#try(step) === undefined;
  }

  /**
   * The same, and does it again until the store takes it. `step` does nothing the second time that it has done. What can
   * never be kept is not tried again.
   */
  insist(step: () => void, failures = 0): void {
    const failed = this.#try(step);
    if (failed === undefined || isUnkeepable(failed.error)) return;
    this.#later(waitMsAfter(failures + 1), () => this.insist(step, failures + 1));
  }

  /** Tries nothing again. */
  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  #try(step: () => void): { readonly error: unknown } | undefined {
    try {
      step();
      return undefined;
    } catch (error) {
      this.#deps.onFailed(error);
      return { error };
    }
  }

  #later(ms: number, fire: () => void): void {
    if (this.#isClosed) return;
    const cancel = this.#deps.clock.setTimer(ms, () => {
      this.#timers.delete(cancel);
      fire();
    });
    this.#timers.add(cancel);
  }

  #await(saving: Promise<void>): void {
    const all = this.#kept(this.#saving, saving);
    this.#saving = all;
    void all.then(() => {
      if (this.#saving === all) this.#saving = undefined;
    });
  }

  /** Resolves when all so far is kept. What the store rejects it is given again, as it is by then. */
  async #kept(former: Promise<void> | undefined, first: Promise<void>): Promise<void> {
    let saving: Promise<void> = first;
    for (let failures = 0; ; ) {
      try {
        await Promise.all([former, saving]);
        return;
      } catch (error) {
        this.#deps.onFailed(error);
        failures += 1;
      }
      const waitMs = waitMsAfter(failures);
      await new Promise<void>((resolve) => this.#later(waitMs, resolve));
      saving = this.#saveAgain();
    }
  }

  async #saveAgain(): Promise<void> {
    await this.#deps.save(this.#current);
  }
}

/** What JSON cannot say no store in a journal ever takes. */
export const isUnkeepable = (error: unknown): boolean =>
  isOrreryError(error) && error.code === 'NOT_SERIALISABLE';
