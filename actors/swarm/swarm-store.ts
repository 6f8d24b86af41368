import { notSerialisable } from '../../runtime/protocol/errors.ts';
import { findUnserialisable } from '../../runtime/protocol/json.ts';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import type { AgentRecords } from '../../runtime/public.ts';
import { SwarmRecord } from './swarm-record.ts';
import { isOver } from './swarm-session.ts';

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
