import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { fitName, OWN_FOLDER } from '@orrery/ralph-loop';
import { z } from 'zod';
import { UsageError } from '../usage-error.ts';
import { type RunEnd, RunRecord, type RunStatus, statusOf } from './run-record.ts';
import type { RunSeal } from './run-seal.ts';

const RECORD = 'run.json';
const JOURNAL = 'journal-';
const MAX_BYTES = 256 * 1024;
const OWN_FILE = 0o600;
const OWN = 0o700;

/** The file as it is written: the record, and the seal by which its user knows it again. */
const SealedRecord = z.strictObject({ seal: z.string(), record: RunRecord });

/** What is found of the last run of a mission. - `foreign` somebody else wrote it, changed it or brought it here. */
export type FoundRun =
  | { readonly kind: 'own'; readonly record: RunRecord; readonly status: RunStatus }
  | { readonly kind: 'foreign'; readonly name: string; readonly file: string; readonly why: string };

/** The folder of the runs of a repository. */
export const runsOf = (root: string): string => join(root, OWN_FOLDER, 'runs');

/** What is kept of the last run of a mission, in the repository that it changes. */
export class RunFolder {
  readonly path: string;
  readonly #root: string;
  readonly #name: string;
  readonly #seal: RunSeal;

  /** `root` is the top level of the repository; `mission` the name of a mission, or of its folder. */
  constructor(root: string, mission: string, seal: RunSeal) {
    this.#root = root;
    this.#name = fitName(mission);
    this.#seal = seal;
    this.path = join(runsOf(root), this.#name);
  }

  /** Makes it. Throws UsageError where a part of it is a link, which may lead anywhere. */
  make(): void {
    for (const folder of this.#folders()) {
      try {
        mkdirSync(folder, { mode: OWN });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      if (!isFolder(folder))
        throw new UsageError(
          `The folder ${folder} is a link or no folder; remove it, so that a run is kept here`,
        );
    }
  }

  /**
   * A path for the journal of a run that begins, if nobody names another. Nothing is there: a journal that came with the
   * repository would be believed, and one of another process that is starting must not be shared.
   */
  newJournal(nowMs: number): string {
    const path = join(this.path, `${JOURNAL}${nowMs}-${process.pid}`);
    return isThere(path) ? this.newJournal(nowMs + 1) : path;
  }

  /** Removes the journals of runs before, once this one is the only one that may run. */
  sweep(journal: string): void {
    for (const name of readdirSync(this.path))
      if (name.startsWith(JOURNAL) && !name.startsWith(basename(journal)))
        rmSync(join(this.path, name), { recursive: true, force: true });
  }

  /** What is there; undefined if no run was begun. */
  read(): FoundRun | undefined {
    const file = join(this.path, RECORD);
    try {
      if (!isThere(file)) return undefined;
      const record = this.#readOwn(file);
      return { kind: 'own', record, status: statusOf(record) };
    } catch (error) {
      return { kind: 'foreign', name: this.#name, file, why: (error as Error).message };
    }
  }

  /** Keeps that a run has begun, or how it ended, in the place of what was there. Throws UsageError where it cannot be kept. */
  write(record: RunRecord): void {
    const file = join(this.path, RECORD);
    const { data: known, error } = RunRecord.safeParse(record);
    if (known === undefined) throw new UsageError(`The run cannot be kept in ${file}: ${faultOf(error)}`);
    const text = JSON.stringify({ seal: this.#seal.seal(JSON.stringify(known)), record: known }, null, 2);
    const part = `${file}.${process.pid}.part`;
    rmSync(part, { force: true });
    // `wx` fails for an existing file, so that no link is followed.
    const descriptor = openSync(part, 'wx', OWN_FILE);
    try {
      writeSync(descriptor, `${text}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(part, file);
  }

  /** Keeps how this run ended, unless another has begun meanwhile. */
  end(record: RunRecord, ended: RunEnd): void {
    const found = this.read();
    if (found?.kind === 'own' && isSame(found.record, record)) this.write({ ...record, ended });
  }

  #folders(): string[] {
    return [join(this.#root, OWN_FOLDER), runsOf(this.#root), this.path];
  }

  #readOwn(file: string): RunRecord {
    if (!this.#folders().every(isFolder)) throw new Error('it lies behind a link');
    const { seal, record } = sealedIn(readBounded(file));
    if (!this.#seal.fits(JSON.stringify(record), seal)) throw new Error('it was not written by you');
    if (record.root !== this.#root) throw new Error(`it is of a run in ${record.root}`);
    if (fitName(record.mission) !== this.#name) throw new Error(`it is of the mission "${record.mission}"`);
    return record;
  }
}

function sealedIn(text: string): z.infer<typeof SealedRecord> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('it is no JSON');
  }
  const { data, error } = SealedRecord.safeParse(value);
  if (data === undefined) throw new Error(`it is no record of a run: ${faultOf(error)}`);
  return data;
}

function faultOf({ issues: [issue] }: z.ZodError): string {
  const place = (issue?.path ?? []).map(String).join('.');
  return `${place === '' ? 'it' : place}: ${issue?.message ?? ''}`;
}

const isSame = (one: RunRecord, other: RunRecord): boolean =>
  one.startedAtMs === other.startedAtMs && one.process.pid === other.process.pid;

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw error;
  }
}

const isFolder = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Follows no link, waits for no pipe, and reads no more than a record has. */
function readBounded(file: string): string {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const descriptor = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { size } = fstatSync(descriptor);
    if (!fstatSync(descriptor).isFile()) throw new Error('it is no file');
    if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(descriptor, bytes)).toString('utf8');
  } finally {
    closeSync(descriptor);
  }
}
