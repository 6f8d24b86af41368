import { agentRecord, readAgentRecords, type StoredAgentRecord } from '../journal/stored-agent-records.ts';
import { invalidOptions, notSerialisable } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json.ts';
import type { RecordChange, Store } from '../protocol/store.ts';
import { mergeTaint, type Taint } from '../protocol/taint.ts';

/** A value that an agent's former thread or process has kept. */
export interface LeftRecord {
  readonly key: string;
  readonly value: unknown;
}

/** The journal, as the agents of one thread have it. */
export interface RecordJournal extends Pick<Store, 'records'> {
  /** Writes a record, unless the system stops. */
  record(change: RecordChange): void;
  /** Writes a record, also while the system stops. */
  note(change: RecordChange): void;
  /** Resolves when everything that was written survives the loss of power. */
  whenKept(): Promise<void>;
}

/**
 * - `left`        what a former thread or process kept for the agent.
 * - `taint`       where what the agent has in it came from outside.
 * - `absorbTaint` hears the same of a record that the agent is given.
 */
export interface AgentRecordsDeps {
  readonly agentId: string;
  readonly left: readonly StoredAgentRecord[];
  readonly journal: RecordJournal;
  readonly taint?: () => Taint | undefined;
  readonly absorbTaint?: (taint: Taint) => void;
}

/** Beside a record that came from outside lies one of this kind, under its kind and key, which says where from. */
const TAINT_KIND = 'taint';
const nameOf = ({ kind, key }: { readonly kind: string; readonly key: string }): string => `${kind}\n${key}`;

/**
 * What of a durable agent outlives its thread and the process, beside its mail: values that JSON can say, by kind and key.
 *
 * What is put here is written together with what this thread sends and settles in the same step, or before what it sends
 * later: nobody knows of a state that a crash could undo.
 */
export class AgentRecords {
  readonly #deps: AgentRecordsDeps;
  readonly #left = new Map<string, LeftRecord[]>();
  /** Kinds of which something was put here. */
  readonly #changed = new Set<string>();
  /** By kind and key. */
  readonly #taints = new Map<string, Taint>();

  constructor(deps: AgentRecordsDeps) {
    this.#deps = deps;
    for (const record of deps.left) {
      if (record.kind === TAINT_KIND) {
        this.#taints.set(record.key, JSON.parse(record.value) as Taint);
        continue;
      }
      const ofKind = this.#left.get(record.kind) ?? [];
      ofKind.push(leftRecord(record));
      this.#left.set(record.kind, ofKind);
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
    return this.#given(kind, left);
  }

  /**
   * What is kept of one kind by now, in the order of the keys, whoever put it; at any time, and any number of times. What was
   * left is thereby taken. Fails as the journal does when it cannot be read.
   */
  async list(kind: string): Promise<readonly LeftRecord[]> {
    const left = this.takeLeft(kind);
    if (left.length > 0 && !this.#changed.has(kind)) return left;
    await this.whenKept();
    const { agentId, journal } = this.#deps;
    return this.#given(kind, (await readAgentRecords(journal, agentId, { kind })).map(leftRecord));
  }

  /**
   * Keeps a value instead of the one before; undefined forgets it. Fails with NOT_SERIALISABLE, naming what JSON cannot
   * carry, and with INVALID_OPTIONS for a kind of several lines.
   *
   * While the system stops nothing is put any more, because what is in hand is left as it was; `toTheLast` is put then, too.
   */
  put(kind: string, key: string, value: unknown, { toTheLast = false } = {}): void {
    if (kind.includes('\n')) throw invalidOptions('kind', kind, 'a text of one line');
    const fault = value === undefined ? undefined : findUnserialisable(value);
    if (fault !== undefined) throw notSerialisable(fault.path, fault.kind);
    const text = value === undefined ? undefined : JSON.stringify(value);
    this.#changed.add(kind);
    const name = nameOf({ kind, key });
    // What is put instead is made of what was there, as a rule: it stays marked until it is forgotten.
    const taint = value === undefined ? undefined : mergeTaint(this.#taints.get(name), this.#deps.taint?.());
    this.#mark(name, taint, toTheLast);
    this.#write({ kind, key, value: text }, toTheLast);
  }

  /** Whoever gets these has what is in them. */
  #given(kind: string, records: readonly LeftRecord[]): readonly LeftRecord[] {
    for (const { key } of this.#taints.size === 0 ? [] : records) {
      const taint = this.#taints.get(nameOf({ kind, key }));
      if (taint !== undefined) this.#deps.absorbTaint?.(taint);
    }
    return records;
  }

  #mark(name: string, taint: Taint | undefined, toTheLast: boolean): void {
    if (taint === this.#taints.get(name)) return;
    if (taint === undefined) this.#taints.delete(name);
    else this.#taints.set(name, taint);
    const value = taint === undefined ? undefined : JSON.stringify(taint);
    this.#write({ kind: TAINT_KIND, key: name, value }, toTheLast);
  }

  #write(record: Parameters<typeof agentRecord>[1], toTheLast: boolean): void {
    const { agentId, journal } = this.#deps;
    const change = agentRecord(agentId, record);
    if (toTheLast) journal.note(change);
    else journal.record(change);
  }

  /** Resolves when everything that was put survives the loss of power. */
  whenKept(): Promise<void> {
    return this.#deps.journal.whenKept();
  }
}

const leftRecord = ({ key, value }: StoredAgentRecord): LeftRecord => ({
  key,
  value: JSON.parse(value) as unknown,
});
