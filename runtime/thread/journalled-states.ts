import { isThenable } from '../protocol/promises.ts';
import type { Cell } from '../cell/cell.ts';
import { agentRecord } from '../journal/stored-agent-records.ts';
import { snapshotInvalid } from '../protocol/errors.ts';
import { faultsOf } from '../protocol/payload-faults.ts';
import { stateIdentity } from '../upgrade/state-identity.ts';
import { Snapshot } from '../protocol/snapshot.ts';
import type { RecordChange } from '../protocol/store.ts';

const KIND = 'state';

export interface JournalledStatesDeps {
  readonly write: (change: RecordChange) => void;
  readonly onProblem: (agentId: string, error: unknown) => void;
}

/**
 * The states of durable agents: the one that an envelope leaves is written in the unit that settles the envelope, so that the
 * next process begins with all that was settled and nothing else.
 *
 * What is in hand when a unit is written may have changed its agent's state half-way: then the state is the one from before
 * it began. A call-back has no state of its own: with it goes what the handler that waits for it has done so far.
 */
export class JournalledStates {
  readonly #deps: JournalledStatesDeps;
  /** Whose state is to be written; undefined: as it is by then. */
  readonly #changed = new Map<Cell, Snapshot | undefined>();
  /** What former threads and processes left, until its agent has started with it. */
  readonly #left = new Map<Cell, Snapshot>();
  /** Whose state could not be taken, which has been said. */
  readonly #faulty = new WeakSet<Cell>();

  constructor(deps: JournalledStatesDeps) {
    this.#deps = deps;
  }

  /** The agent's records are here. One that cannot be read is reported, and the agent begins anew. */
  remember(cell: Cell): void {
    const [left] = cell.client.records?.takeLeft(KIND) ?? [];
    if (left === undefined) return;
    const parsed = Snapshot.safeParse(left.value);
    if (parsed.success) this.#left.set(cell, parsed.data);
    else this.#deps.onProblem(cell.row.id, snapshotInvalid(cell.row.id, faultsOf(parsed.error, left.value)));
  }

  /** What the agent is to start with. */
  leftBy(cell: Cell): Snapshot | undefined {
    return this.#left.get(cell);
  }

  /** The agent runs with it, or somebody else has it now. */
  tookUp(cell: Cell): void {
    this.#left.delete(cell);
  }

  /** An envelope has its outcome. */
  changed(cell: Cell): void {
    if (isKept(cell)) this.#changed.set(cell, undefined);
  }

  /** The agent begins on the next envelope: what the former ones left is as it is now. */
  begins(cell: Cell): void {
    if (this.#changed.size === 0 || !this.#changed.has(cell) || this.#changed.get(cell) !== undefined) return;
    const snapshot = this.#take(cell);
    if (snapshot === undefined) this.#changed.delete(cell);
    else this.#changed.set(cell, snapshot);
  }

  /** A unit is about to be written. */
  write(): void {
    if (this.#changed.size === 0) return;
    for (const [cell, earlier] of this.#changed) {
      const snapshot = earlier ?? this.#take(cell);
      if (snapshot !== undefined) this.#put(cell, JSON.stringify(snapshot));
    }
    this.#changed.clear();
  }

  /** The agent begins anew the next time. */
  forget(cell: Cell): void {
    if (!isKept(cell)) return;
    this.#changed.delete(cell);
    this.#left.delete(cell);
    this.#put(cell, undefined);
  }

  /** One that cannot be taken leaves none behind that is older than what was settled. */
  #take(cell: Cell): Snapshot | undefined {
    try {
      const snapshot = cell.lives.snapshot();
      // In a process of its own the state is not at hand when a unit is written.
      if (!isThenable(snapshot)) return snapshot;
      snapshot.then(undefined, () => undefined);
    } catch (error) {
      if (!this.#faulty.has(cell)) this.#deps.onProblem(cell.row.id, error);
      this.#faulty.add(cell);
      this.#put(cell, undefined);
    }
    return undefined;
  }

  #put({ row }: Cell, value: string | undefined): void {
    this.#deps.write(agentRecord(row.id, { kind: KIND, key: '', value }));
  }
}

const isKept = (cell: Cell): boolean =>
  cell.hasClient && cell.client.records !== undefined && stateIdentity(cell.definition) !== undefined;
