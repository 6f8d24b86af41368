import { isOver } from './swarm-session.ts';
import type { SwarmRecord } from './swarm-record.ts';

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
export const SWARMS_KEPT = 256;

/** Keeps everything that goes on, and of what is over the newest. */
export class InMemorySwarmStore implements SwarmStore {
  readonly #capacity: number;
  readonly #records = new Map<string, SwarmRecord>();

  /** `capacity`: how many are kept of those that are over. */
  constructor(capacity: number = SWARMS_KEPT) {
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
