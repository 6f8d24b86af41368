import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type SpendFiles, spendFiles } from './spend-file.ts';

/** What one thread says of the mails that it begins on. */
export interface StartedNotes {
  /** The handling of these mails begins. That outlives the process from when this returns. */
  note(numbers: readonly number[]): void;
  /** Of these mails it was noted, and their handling has not begun. */
  retract(numbers: readonly number[]): void;
  close(): void;
}

/** Where the threads of a system note what they have begun on; `journal` is the path of the journal's file. */
export interface StartedRings {
  /** `open`: the numbers that are noted and not known to be settled in the journal; asked for now and then. */
  open(journal: string, incarnation: number, open: () => readonly number[]): StartedNotes;
  /** The numbers in all rings beside a journal. */
  read(journal: string): Set<number>;
  /** Removes all rings beside a journal: what they said is in the journal now. */
  remove(journal: string): void;
  /** Where they note what they spend. */
  readonly spends: SpendFiles;
}

/** How many entries a file has room for, its first one included. */
const ENTRIES = 8_192;
const ENTRY_BYTES = 8;
const SUFFIX = '-started-';
const OTHER = '-other';

/** `room`: how many entries it has room for. */
interface RingFile {
  readonly descriptor: number;
  room: number;
}

/**
 * Numbers of the mails that one thread has begun on, one after the other, negative where that was retracted; in two files
 * beside the journal.
 *
 * The kernel has an entry when `note` returns: it outlives the process, however that ends, though not the
 * loss of power. When a file is full the other one is begun anew, with what is still open. Their room is taken beforehand,
 * so that a disk that is full keeps nobody from noting what it begins on.
 */
export class StartedRing implements StartedNotes {
  readonly #open: () => readonly number[];
  readonly #files: readonly RingFile[];
  #bytes = Buffer.alloc(64 * ENTRY_BYTES);
  /** How often a file was begun; the first entry of each says when it was. */
  #generation = 0;
  #length = ENTRIES;

  /** `incarnation`: which thread this is. Fails as `fs` does. */
  constructor(journal: string, incarnation: number, open: () => readonly number[] = () => []) {
    this.#open = open;
    const path = `${journal}${SUFFIX}${incarnation}`;
    this.#files = [path, `${path}${OTHER}`].map((file) => ({
      descriptor: openSync(file, 'w'),
      room: ENTRIES,
    }));
    for (const file of this.#files) clear(file);
  }

  note(numbers: readonly number[]): void {
    if (this.#length + numbers.length > this.#file.room) this.#beginAnew(numbers.length);
    this.#append(numbers);
  }

  retract(numbers: readonly number[]): void {
    this.note(numbers.map((number) => -number));
  }

  close(): void {
    for (const { descriptor } of this.#files) closeSync(descriptor);
  }

  get #file(): RingFile {
    return this.#files[this.#generation % 2] as RingFile;
  }

  #beginAnew(more: number): void {
    const open = this.#open();
    this.#generation += 1;
    clear(this.#file);
    this.#file.room = Math.max(this.#file.room, 2 * (open.length + more + 1));
    this.#length = 0;
    this.#append([this.#generation, ...open]);
  }

  #append(numbers: readonly number[]): void {
    const size = numbers.length * ENTRY_BYTES;
    if (this.#bytes.length < size) this.#bytes = Buffer.alloc(size);
    for (let at = 0; at < numbers.length; at++) {
      this.#bytes.writeDoubleLE(numbers[at] as number, at * ENTRY_BYTES);
    }
    writeSync(this.#file.descriptor, this.#bytes, 0, size, this.#length * ENTRY_BYTES);
    this.#length += numbers.length;
  }
}

function clear({ descriptor, room }: RingFile): void {
  writeSync(descriptor, Buffer.alloc(room * ENTRY_BYTES), 0, room * ENTRY_BYTES, 0);
}

const ringsOf = (journal: string): string[] =>
  readdirSync(dirname(journal))
    .filter((name) => name.startsWith(`${basename(journal)}${SUFFIX}`))
    .map((name) => join(dirname(journal), name));

/** The numbers in all rings beside a journal. An entry that was being written when the process ended may be missing. */
function readStarted(journal: string): Set<number> {
  const threads = Map.groupBy(ringsOf(journal), (file) => file.replace(new RegExp(`${OTHER}$`), ''));
  return new Set([...threads.values()].flatMap((files) => [...startedIn(files)]));
}

/** What one thread's files say, the one that was begun last read last. */
function startedIn(files: readonly string[]): Set<number> {
  const started = new Set<number>();
  const read = files.map(entriesOf).sort(([one = 0], [other = 0]) => one - other);
  for (const [, ...entries] of read) {
    for (const number of entries) {
      if (number > 0) started.add(number);
      else started.delete(-number);
    }
  }
  return started;
}

function entriesOf(file: string): number[] {
  const bytes = readFileSync(file);
  const count = Math.floor(bytes.length / ENTRY_BYTES);
  return Array.from({ length: count }, (_, at) => bytes.readDoubleLE(at * ENTRY_BYTES));
}

/** Removes all rings beside a journal: what they said is in the journal now. */
function removeRings(journal: string): void {
  for (const file of ringsOf(journal)) rmSync(file, { force: true });
}

/** Rings as files, which is what a process that may be killed needs. */
export const ringFiles: StartedRings = {
  open: (journal, incarnation, open) => new StartedRing(journal, incarnation, open),
  read: readStarted,
  remove: removeRings,
  spends: spendFiles,
};
