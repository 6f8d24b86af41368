import { z } from 'zod';
import { MachineHost } from '../../runtime/machine/machine-host.ts';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import { TaskChange } from '../../runtime/protocol/task.ts';
import type { JournalRecords } from '../../runtime/public.ts';
import {
  Json,
  type LoggedTask,
  MessageTerms,
  type TaskLog,
  TaskOpening,
  type TaskWrite,
} from './task-log.ts';
import { mayTake, taskMachine } from './task.machine.ts';

/** What such a log needs of the records of a system with a journal. */
export type TaskRecords = Pick<JournalRecords, 'put' | 'read'>;

/** Beside what the embedder keeps of its own. */
const KIND = 'orrery/task';
/** Records that cannot be read are moved here, so that nothing takes their place. */
const ASIDE = 'orrery/task-aside';
/** Keys sort as their numbers do, and before the memo. */
const DIGITS = 12;
const MEMO = 'memo';
const DEFAULT_MERGED = 128;

/** One write of changes, or several that became one; the first one of a task has its opening. */
const TaskRecord = z.strictObject({
  opening: TaskOpening.optional(),
  changes: z.array(TaskChange),
  terms: z.array(MessageTerms).optional(),
});
type TaskRecord = z.infer<typeof TaskRecord>;

/** The records of one task: their numbers, and the content of those that are not merged yet. */
interface Kept {
  readonly numbers: number[];
  tail: TaskRecord[];
  hasMemo: boolean;
}

/** `merged`: so many records of one task become one. @default 128 */
export interface JournalledTaskLogOptions {
  readonly records: TaskRecords;
  readonly merged?: number;
  /** Called for a record that cannot be read. It is moved aside, and the changes after it are ignored. */
  readonly onProblem: (key: string, reason: string) => void;
}

/**
 * Tasks in the journal of a system: one record a write, and one for what whoever works at a task remembers.
 *
 * A crash leaves a write whole or not at all. Many small records of a task become one, so that a task of many chunks costs
 * what its chunks hold, when it is written and when it is read.
 */
export class JournalledTaskLog implements TaskLog {
  readonly #records: TaskRecords;
  readonly #merged: number;
  readonly #onProblem: JournalledTaskLogOptions['onProblem'];
  readonly #kept = new Map<string, Kept>();

  constructor({ records, merged = DEFAULT_MERGED, onProblem }: JournalledTaskLogOptions) {
    this.#records = records;
    this.#merged = merged;
    this.#onProblem = onProblem;
  }

  open(opening: TaskOpening, write: TaskWrite): Promise<void> {
    this.#kept.set(opening.key, { numbers: [], tail: [], hasMemo: false });
    return this.#write(opening.key, recordOf(write, opening), write.memo);
  }

  append(key: string, write: TaskWrite): Promise<void> {
    const record = write.changes.length === 0 ? undefined : recordOf(write);
    return this.#write(key, record, write.memo);
  }

  async forget(key: string): Promise<void> {
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    if (kept === undefined) return;
    const names = [...kept.numbers.map(nameOf), ...(kept.hasMemo ? [MEMO] : [])];
    await Promise.all(names.map((name) => this.#put(key, name, undefined)));
  }

  /** Reads one task after the other, so memory does not grow with their number. */
  async *load(): AsyncGenerator<LoggedTask> {
    let reading: ReadTask | undefined;
    for await (const { key: place, value } of this.#records.read(KIND)) {
      const [key = '', name = ''] = splitLast(place);
      if (reading?.key !== key) {
        if (reading !== undefined) yield* this.#finish(reading);
        reading = new ReadTask(key);
      }
      const fault = reading.take(name, value);
      if (fault === undefined) continue;
      this.#onProblem(place, fault);
      await Promise.all([this.#records.put(ASIDE, place, value), this.#put(key, name, undefined)]);
    }
    if (reading !== undefined) yield* this.#finish(reading);
  }

  *#finish({ key, task, numbers, hasMemo }: ReadTask): Generator<LoggedTask> {
    if (task === undefined) return;
    this.#kept.set(key, { numbers, tail: [], hasMemo });
    yield task;
  }

  async #write(key: string, record: TaskRecord | undefined, memo: Json | undefined): Promise<void> {
    const kept = this.#kept.get(key);
    // A task that was forgotten has nothing more to be kept.
    if (kept === undefined) return;
    const puts: Promise<void>[] = [];
    if (record !== undefined) {
      const number = (kept.numbers.at(-1) ?? -1) + 1;
      kept.numbers.push(number);
      kept.tail.push(record);
      if (kept.tail.length < this.#merged) puts.push(this.#put(key, nameOf(number), record));
      else puts.push(...this.#merge(key, kept));
    }
    if (memo !== undefined) {
      kept.hasMemo = true;
      puts.push(this.#put(key, MEMO, memo));
    }
    await Promise.all(puts);
  }

  /** Merges the newest records into one, in the place of the first. */
  #merge(key: string, kept: Kept): Promise<void>[] {
    const { tail } = kept;
    kept.tail = [];
    const [first = 0, ...others] = kept.numbers.splice(-tail.length);
    kept.numbers.push(first);
    const opening = tail[0]?.opening;
    const terms = tail.flatMap((record) => record.terms ?? []);
    const merged = {
      ...(opening && { opening }),
      changes: tail.flatMap(({ changes }) => changes),
      ...(terms.length > 0 && { terms }),
    };
    // The newest of them was never written.
    return [
      this.#put(key, nameOf(first), merged),
      ...others.slice(0, -1).map((number) => this.#put(key, nameOf(number), undefined)),
    ];
  }

  /** Writes a record, also while the system stops. */
  #put(key: string, name: string, value: unknown): Promise<void> {
    return this.#records.put(KIND, `${key}/${name}`, value, { toTheLast: true });
  }
}

/** A task as its records are read, in their order. */
class ReadTask {
  readonly key: string;
  readonly numbers: number[] = [];
  hasMemo = false;
  #opening: TaskOpening | undefined;
  readonly #changes: TaskChange[] = [];
  readonly #terms: MessageTerms[] = [];
  readonly #life = new MachineHost(taskMachine, {});
  #memo: Json | undefined;

  constructor(key: string) {
    this.key = key;
  }

  /** The task; undefined when its first record could not be read. */
  get task(): LoggedTask | undefined {
    if (this.#opening === undefined) return undefined;
    const memo = this.#memo === undefined ? {} : { memo: this.#memo };
    return { opening: this.#opening, changes: this.#changes, terms: this.#terms, ...memo };
  }

  /** Says why a record cannot be made out, or does not follow what was read before it. */
  take(name: string, value: unknown): string | undefined {
    if (name === MEMO) return this.#takeMemo(value);
    const parsed = TaskRecord.safeParse(value);
    if (!parsed.success) return faultsOf(parsed.error, value);
    const { opening, changes, terms } = parsed.data;
    this.#opening ??= opening;
    if (this.#opening === undefined) return 'the beginning of its task cannot be read';
    const last = this.#changes.at(-1)?.generation ?? 0;
    const isNext = changes.every(({ generation }, at) => generation === last + at + 1);
    if (!isNext) return `its changes do not follow change ${last}`;
    const wrong = changes.find((change) => !this.#follows(change));
    if (wrong !== undefined) return `its change ${wrong.generation} cannot follow: it is ${this.#life.value}`;
    this.#changes.push(...changes);
    this.#terms.push(...(terms ?? []));
    this.numbers.push(Number(name));
    return undefined;
  }

  /** Whether a change follows those before. After one that does not, the rest is ignored. */
  #follows(change: TaskChange): boolean {
    if (!mayTake(this.#life, change)) return false;
    if (change.kind === 'status') this.#life.send({ type: change.state });
    return true;
  }

  #takeMemo(value: unknown): string | undefined {
    const parsed = Json.safeParse(value);
    if (!parsed.success) return faultsOf(parsed.error, value);
    this.#memo = parsed.data;
    this.hasMemo = true;
    return undefined;
  }
}

const recordOf = ({ changes, terms }: TaskWrite, opening?: TaskOpening): TaskRecord => ({
  ...(opening && { opening }),
  changes: [...changes],
  ...(terms && { terms: [...terms] }),
});

const nameOf = (number: number): string => String(number).padStart(DIGITS, '0');

function splitLast(place: string): [string, string] {
  const at = place.lastIndexOf('/');
  return [place.slice(0, at), place.slice(at + 1)];
}
