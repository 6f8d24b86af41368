import { agentRecord, type AgentRecord } from '../journal/stored-agent-records.ts';
import { invalidOptions, notSerialisable } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json-safety.ts';
import type { RecordChange } from '../protocol/store.ts';

/** A value that an agent's former thread or process has kept. */
export interface LeftRecord {
  readonly key: string;
  readonly value: unknown;
}

/**
 * - `left`     what a former thread or process kept for the agent.
 * - `write`    gives a change to the journal.
 * - `whenKept` resolves when everything that was given to it survives the loss of power.
 */
export interface AgentRecordsDeps {
  readonly agentId: string;
  readonly left: readonly AgentRecord[];
  readonly write: (change: RecordChange) => void;
  readonly whenKept: () => Promise<void>;
}

/**
 * What of a durable agent outlives its thread and the process, beside its mail: values that JSON can say, by kind and key.
 *
 * What is put here is written together with what this thread sends and settles in the same step, or before what it sends
 * later: nobody knows of a state that a crash could undo.
 */
export class AgentRecords {
  readonly #deps: AgentRecordsDeps;
  readonly #left = new Map<string, LeftRecord[]>();

  constructor(deps: AgentRecordsDeps) {
    this.#deps = deps;
    for (const { kind, key, value } of deps.left) {
      const ofKind = this.#left.get(kind) ?? [];
      ofKind.push({ key, value: JSON.parse(value) as unknown });
      this.#left.set(kind, ofKind);
    }
  }

  /** Something was left, and nobody has taken it up yet. */
  get hasLeft(): boolean {
    return this.#left.size > 0;
  }

  /** What was left of one kind, in the order of the keys; once, because whoever takes it up keeps it from then on. */
  takeLeft(kind: string): readonly LeftRecord[] {
    const left = this.#left.get(kind) ?? [];
    this.#left.delete(kind);
    return left;
  }

  /**
   * Keeps a value instead of the one before; undefined forgets it. Fails with NOT_SERIALISABLE, naming what JSON cannot
   * carry, and with INVALID_OPTIONS for a kind of several lines.
   */
  put(kind: string, key: string, value: unknown): void {
    if (kind.includes('\n')) throw invalidOptions('kind', kind, 'a text of one line');
    const fault = value === undefined ? undefined : findUnserialisable(value);
    if (fault !== undefined) throw notSerialisable(fault.path, fault.kind);
    const text = value === undefined ? undefined : JSON.stringify(value);
    this.#deps.write(agentRecord(this.#deps.agentId, { kind, key, value: text }));
  }

  /** Resolves when everything that was put survives the loss of power. */
  whenKept(): Promise<void> {
    return this.#deps.whenKept();
  }
}
