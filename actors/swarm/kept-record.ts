import type { Taint } from '../../runtime/protocol/taint.ts';
import { type SwarmRecord, withTaint } from './swarm-record.ts';
import type { SwarmSession } from './swarm-session.ts';

/**
 * `save` keeps a record in a store; `onChange` hears of every change; `taint` says where what is written now came from outside.
 */
export interface KeptRecordDeps {
  readonly taint?: () => Taint | undefined;
  readonly save: (record: SwarmRecord) => void | Promise<void>;
  readonly onChange: (session: SwarmSession) => void;
}

/** A swarm's record, and the order of what is done: nothing that follows from a change is done before it is kept. */
export class KeptRecord {
  readonly #deps: KeptRecordDeps;
  #current: SwarmRecord;
  /** Resolves when all that was changed so far is kept. */
  #saving: Promise<void> | undefined;

  constructor(deps: KeptRecordDeps, record: SwarmRecord) {
    this.#deps = deps;
    this.#current = record;
  }

  get current(): SwarmRecord {
    return this.#current;
  }

  /** Throws what the store does that cannot keep it; then nothing has changed. */
  change(record: SwarmRecord): void {
    this.note(record);
    this.#deps.onChange(this.#current.session);
  }

  /** Keeps what nobody sees of the swarm. */
  note(record: SwarmRecord): void {
    const marked = withTaint(record, this.#deps.taint?.());
    const saving = this.#deps.save(marked);
    this.#current = marked;
    if (saving !== undefined) this.#await(saving);
  }

  /** Calls `then` when everything up to here is kept: at once, if it is. */
  whenSaved(then: () => void): void {
    if (this.#saving === undefined) then();
    else void this.#saving.then(then);
  }

  #await(saving: Promise<void>): void {
    const former = this.#saving;
    const all = former === undefined ? saving : former.then(() => saving);
    this.#saving = all;
    void all.then(() => {
      if (this.#saving === all) this.#saving = undefined;
    });
  }
}
