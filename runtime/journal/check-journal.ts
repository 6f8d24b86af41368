import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { resolve } from 'node:path';
import { invalidOptions, isOrreryError, reasonOf, storeFailed } from '../protocol/errors.ts';
import { requireText } from '../protocol/parse-options.ts';
import { systemSeams } from '../protocol/system-seams.ts';
import { copyJournal } from './backup.ts';
import { examineFile, logFileOf, numberOf, reading } from './examine-file.ts';
import { markFileOf } from './high-water-mark.ts';
import { recordFault } from './record-faults.ts';
import { type Salvaged, salvage } from './salvage.ts';
import { sqliteFault } from './sqlite-fault.ts';
import { recordOf, recordRowsOf } from './sqlite-format.ts';

/** Damaged records that are named. */
const MOST_TOLD = 10;

/**
 * What a journal's files are like.
 *
 * - `commits`, `mails`, `records` so many it holds, where that can be read.
 * - `damage`  what is wrong, a sentence each; none: it is whole.
 */
export interface JournalCheck {
  readonly commits?: number;
  readonly mails?: number;
  readonly records?: number;
  readonly damage: readonly string[];
}

/** See `checkJournal`. */
export function checkJournalFile(path: string): JournalCheck {
  const file = existing(path);
  try {
    const { format, metadata, damage } = examineFile(file);
    if (format === undefined || damage.length > 0)
      return { ...(metadata && { commits: metadata.commits }), damage };
    return reading(file, 0, (database) => ({
      ...(metadata && { commits: metadata.commits }),
      mails: numberOf(database, 'SELECT count(*) FROM mails'),
      records: numberOf(database, 'SELECT count(*) FROM records'),
      damage: faultsIn(database),
    }));
  } catch (error) {
    if (isOrreryError(error)) throw error;
    const fault = sqliteFault(file, 'open', error);
    // A file that is none of ours has no mark.
    if (fault.code !== 'STORE_INVALID' || !existsSync(markFileOf(file))) throw fault;
    return { damage: [String(fault.details['reason'])] };
  }
}

/** Records whose checksums are right, and that say nothing of what they should: the first of them, and how many others. */
function faultsIn(database: DatabaseSync): string[] {
  const faults: string[] = [];
  let more = 0;
  for (const row of recordRowsOf(database)) {
    const fault = recordFault(recordOf(row));
    if (fault === undefined) continue;
    if (faults.length < MOST_TOLD) faults.push(`it is damaged (${fault})`);
    else more += 1;
  }
  return more === 0 ? faults : [...faults, `and so are ${more} others of its records`];
}

/** See `salvageJournal`. */
export function salvageJournalFile(path: string, target: string): Salvaged {
  requireText('target', target);
  const file = existing(path);
  const { damage } = checkJournalFile(file);
  return salvage(file, resolve(target), { damage, life: systemSeams().newSecret() });
}

/** See `backupJournal`. */
export function backupJournalFile(path: string, target: string): JournalCheck {
  const file = existing(path);
  try {
    copyJournal(file, target);
  } catch (error) {
    throw isOrreryError(error) ? error : storeFailed(file, 'copy', reasonOf(error), error);
  }
  return checkJournalFile(target);
}

/** The file may be gone where something beside it says that it was there. */
function existing(path: string): string {
  requireText('path', path);
  const file = resolve(path);
  if (![file, logFileOf(file), markFileOf(file)].some((one) => existsSync(one)))
    throw invalidOptions('path', path, 'the file of a journal');
  return file;
}
