import { notSerialisable } from '../../runtime/protocol/errors.ts';
import { findUnserialisable } from '../../runtime/protocol/json.ts';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { AgentRecords } from '../../runtime/public.ts';
import { SwarmRecord, withTaint } from './swarm-record.ts';
import { isOver, type SwarmSession } from './swarm-session.ts';

/**
 * Where a coordinator keeps its swarms, so that another one, after a restart, goes on with them.
 *
 * What follows from a change is done when it has been put: otherwise two agents could have a sub-task under one epoch.
 */
export interface SwarmStore {
  /** Keeps the record instead of the one it had of this swarm. */
  put(record: SwarmRecord): void | Promise<void>;
  /** Throws NOT_SERIALISABLE for a result that it cannot keep. @default it keeps whatever there is */
  requireKeepable?(result: unknown): void;
  /** In the order in which they were first put. */
  list(): readonly SwarmRecord[] | Promise<readonly SwarmRecord[]>;
}

/** How many are kept of those that are over. */
export const MAX_STORED_SWARMS = 256;

/** Keeps everything that goes on, and of what is over the newest. */
export class InMemorySwarmStore implements SwarmStore {
  readonly #capacity: number;
  readonly #records = new Map<string, SwarmRecord>();

  /** `capacity`: how many are kept of those that are over. */
  constructor(capacity: number = MAX_STORED_SWARMS) {
    this.#capacity = capacity;
  }

  put(record: SwarmRecord): void {
    const { id } = record.session;
    const isNew = !this.#records.has(id);
    this.#records.set(id, record);
    if (isNew) this.#forget();
  }

  list(): readonly SwarmRecord[] {
    return [...this.#records.values()];
  }

  #forget(): void {
    const over = [...this.#records].filter(([, { session }]) => isOver(session.status));
    for (const [id] of over.slice(0, Math.max(0, over.length - this.#capacity))) this.#records.delete(id);
  }
}

/** Of which kind swarms are among an agent's records. */
const KIND = 'swarm';

/**
 * - `records`   of the agent whose swarms they are.
 * - `capacity`  how many are kept of those that are over. @default 256
 * - `onProblem` hears of a swarm that was left and cannot be read: it is skipped, and stays where it is.
 */
export interface JournalledSwarmStoreOptions {
  readonly records: Pick<AgentRecords, 'takeLeft' | 'put' | 'whenKept'>;
  readonly capacity?: number;
  readonly onProblem: (swarmId: string, reason: string) => void;
}

/** The swarms of a durable agent: what goes on, and of what is over the newest, outlives its thread and the process. */
export class JournalledSwarmStore implements SwarmStore {
  readonly #records: JournalledSwarmStoreOptions['records'];
  readonly #capacity: number;
  readonly #swarms = new Map<string, SwarmRecord>();

  /** Takes up what a former thread or process has left. */
  constructor({ records, capacity = MAX_STORED_SWARMS, onProblem }: JournalledSwarmStoreOptions) {
    this.#records = records;
    this.#capacity = capacity;
    const left: SwarmRecord[] = [];
    for (const { key, value } of records.takeLeft(KIND)) {
      const parsed = SwarmRecord.safeParse(value);
      if (parsed.success) left.push(parsed.data);
      else onProblem(key, faultsOf(parsed.error, value));
    }
    left.sort((one, other) => one.session.createdAt - other.session.createdAt);
    for (const record of left) this.#swarms.set(record.session.id, record);
  }

  /** Resolves when it survives the loss of power. Throws NOT_SERIALISABLE, and then keeps what there was. */
  put(record: SwarmRecord): Promise<void> {
    const { id } = record.session;
    const isNew = !this.#swarms.has(id);
    this.#records.put(KIND, id, record);
    this.#swarms.set(id, record);
    if (isNew) this.#forget();
    return this.#records.whenKept();
  }

  requireKeepable(result: unknown): void {
    const lost = result === undefined ? undefined : findUnserialisable(result, 'result');
    if (lost !== undefined) throw notSerialisable(lost.path, lost.kind);
  }

  list(): readonly SwarmRecord[] {
    return [...this.#swarms.values()];
  }

  #forget(): void {
    const over = [...this.#swarms].filter(([, { session }]) => isOver(session.status));
    for (const [id] of over.slice(0, Math.max(0, over.length - this.#capacity))) {
      this.#swarms.delete(id);
      this.#records.put(KIND, id, undefined);
    }
  }
}

/**
 * `save` keeps a record in a store; `onChange` hears of every change; `taint` says where what is written now came from outside.
 */
export interface StoredRecordDeps {
  readonly taint?: () => Taint | undefined;
  readonly save: (record: SwarmRecord) => void | Promise<void>;
  readonly onChange: (session: SwarmSession) => void;
}

/** A swarm's record, and the order of what is done: nothing that follows from a change is done before it is kept. */
export class StoredRecord {
  readonly #deps: StoredRecordDeps;
  #current: SwarmRecord;
  /** What becomes of it in changes that are kept together. */
  #draft: SwarmRecord | undefined;
  /** Resolves when all that was changed so far is kept. */
  #saving: Promise<void> | undefined;

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
