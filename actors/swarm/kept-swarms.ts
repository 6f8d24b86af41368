import { notSerialisable } from '../../runtime/protocol/errors.ts';
import { findUnserialisable } from '../../runtime/protocol/json-safety.ts';
import type { AgentRecords } from '../../runtime/public.ts';
import { SwarmRecord } from './swarm-record.ts';
import { isOver } from './swarm-session.ts';
import { SWARMS_KEPT, type SwarmStore } from './swarm-store.ts';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';

/** Of which kind swarms are among an agent's records. */
const KIND = 'swarm';

/**
 * - `records`   of the agent whose swarms they are.
 * - `capacity`  how many are kept of those that are over. @default 256
 * - `onProblem` hears of a swarm that was left and cannot be read: it is skipped, and stays where it is.
 */
export interface KeptSwarmsOptions {
  readonly records: Pick<AgentRecords, 'takeLeft' | 'put' | 'whenKept'>;
  readonly capacity?: number;
  readonly onProblem: (swarmId: string, reason: string) => void;
}

/** The swarms of a durable agent: what goes on, and of what is over the newest, outlives its thread and the process. */
export class KeptSwarms implements SwarmStore {
  readonly #records: KeptSwarmsOptions['records'];
  readonly #capacity: number;
  readonly #swarms = new Map<string, SwarmRecord>();

  /** Takes up what a former thread or process has left. */
  constructor({ records, capacity = SWARMS_KEPT, onProblem }: KeptSwarmsOptions) {
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
