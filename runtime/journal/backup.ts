import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  readdirSync,
  statSync,
} from 'node:fs';
import { resolve, basename, dirname, join } from 'node:path';
import { backup, type DatabaseSync } from 'node:sqlite';
import { invalidOptions, isOrreryError, storeFailed, storeInvalid } from '../protocol/errors.ts';
import { requireText } from '../protocol/parse-options.ts';
import type { JournalMetadata } from './checksums.ts';
import { examineFile, logFileOf, reading } from './examine-file.ts';
import { HighWaterMark, markFileOf, markOf } from './high-water-mark.ts';
import { lockHolder } from './lock-holder.ts';
import { sqliteFault } from './sqlite-fault.ts';
import { readMetadata } from './sqlite-format.ts';

/** So many pages are copied at a time, and commits come in between. */
const PAGES = 256;
/** A journal that is written to meanwhile is copied again when the copy is not whole. */
const TRIES = 20;

/**
 * Copies an open journal to `target`: all that is committed by the end of it, with a mark of its own, and what is noted
 * beside it. Whoever has it open goes on with it meanwhile.
 *
 * Fails with INVALID_OPTIONS when `target` is there, and as SQLite and `fs` do; then nothing is left at `target`.
 */
export async function backUp(database: DatabaseSync, file: string, target: string): Promise<void> {
  const copy = copyFor(requireNew(target));
  try {
    await backup(database, copy.file, { rate: PAGES });
    const metadata = reading(copy.file, 0, readMetadata);
    if (metadata === undefined)
      throw storeInvalid(copy.file, 'what it says of itself is not what was written');
    copy.finish(file, metadata);
  } finally {
    copy.clear();
  }
}

/**
 * Copies the journal at `file` to `target`, from outside, also while a system has it open: its files are read as they are, and
 * a copy is good when all of its checksums are right.
 *
 * Fails with INVALID_OPTIONS when `target` is there, STORE_INVALID when the journal is not whole, STORE_FAILED when it is
 * written to faster than it can be copied, and STORE_IN_USE when this very process has it open.
 */
export function copyJournal(file: string, target: string): void {
  requireElsewhere(file);
  const copy = copyFor(requireNew(target));
  try {
    for (let tries = 1; ; tries++) {
      const found = copied(file, copy.file);
      if (found.damage.length === 0) return copy.finish(file, found.metadata);
      if (tries === TRIES) throw notCopied(file, found.damage);
    }
  } finally {
    copy.clear();
  }
}

/** A process that closes a file loses all of its locks on it (POSIX): the system in this one would lose its own. */
function requireElsewhere(file: string): void {
  try {
    if (existsSync(file)) reading(file, 0, () => undefined);
  } catch (error) {
    const fault = sqliteFault(file, 'copy', error);
    if (fault.code !== 'STORE_IN_USE') return; // It is seen below what is wrong with it.
    const holder = lockHolder(file);
    if (holder === undefined || holder === process.pid) throw fault;
  }
}

/** Its mark first: it never leads. */
function copied(
  file: string,
  copy: string,
): { metadata: JournalMetadata | undefined; damage: readonly string[] } {
  for (const fileOf of [markFileOf, (path: string) => path, logFileOf]) {
    rmSync(fileOf(copy), { force: true });
    if (existsSync(fileOf(file))) copyFileSync(fileOf(file), fileOf(copy));
  }
  try {
    return examineFile(copy);
  } catch (error) {
    // Of files of different moments SQLite may make nothing at all; of a journal that is none it says so every time.
    if (isOrreryError(error)) throw error;
    return { metadata: undefined, damage: [(error as Error).message] };
  }
}

/** Where the journal itself is whole, it was written to all the while. */
function notCopied(file: string, damage: readonly string[]): Error {
  let ownDamage = damage;
  try {
    ownDamage = examineFile(file).damage;
  } catch {
    ownDamage = []; // A system has it.
  }
  return ownDamage.length > 0
    ? storeInvalid(file, ownDamage.join('; '), { damage: ownDamage })
    : storeFailed(
        file,
        'copy',
        'it is written to faster than it can be copied; have its system do it: records.backup()',
      );
}

function requireNew(target: string): string {
  requireText('target', target);
  const file = resolve(target);
  const there = [file, logFileOf(file), markFileOf(file)].find((one) => existsSync(one));
  if (there !== undefined) throw invalidOptions('target', there, 'the path of a file that is not there yet');
  return file;
}

/** What is copied has another name until all of it is there. */
function copyFor(target: string) {
  const file = `${target}-part`;
  const clear = (): void => {
    for (const one of [file, logFileOf(file), markFileOf(file)]) rmSync(one, { force: true });
  };
  clear();
  const finish = (from: string, metadata: JournalMetadata | undefined): void => {
    copyNotes(from, target);
    for (const fileOf of [logFileOf, (path: string) => path]) {
      if (!existsSync(fileOf(file))) continue;
      sync(fileOf(file));
      renameSync(fileOf(file), fileOf(target));
    }
    // Without it the copy is not opened: it is the last thing to be there.
    if (metadata !== undefined) HighWaterMark.create(target, markOf(metadata)).close();
  };
  return { file, finish, clear };
}

function sync(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Files of these names beside a journal tell of its envelopes by their numbers. */
const NOTES = ['-started-', '-spent-'];

/** Copies the notes beside a journal, of what was begun and what was spent, to `target`. */
export function copyNotes(file: string, target: string): void {
  for (const name of readdirSync(dirname(file))) {
    const rest = name.slice(basename(file).length);
    if (!(name.startsWith(basename(file)) && NOTES.some((suffix) => rest.startsWith(suffix)))) continue;
    const from = join(dirname(file), name);
    if (statSync(from, { throwIfNoEntry: false })?.isFile() === true) copyFileSync(from, target + rest);
  }
}
