import type { JournalCheck } from './check-journal.ts';
import type { JournalFile } from './journal-file.ts';
import type { Salvaged } from './salvage.ts';

// Who has no journal does not load SQLite.

/**
 * Opens the journal of a system that does not run, to see what it keeps for whom, and to have it forget some of that. Fails
 * with INVALID_OPTIONS when there is no such file, STORE_IN_USE when a system has it, STORE_INVALID when it is no journal, or
 * not a whole one.
 */
export async function openJournal(path: string): Promise<JournalFile> {
  const { openJournalFile } = await import('./journal-file.ts');
  return openJournalFile(path);
}

/**
 * Says whether the journal of a system that does not run is whole, and if not, what is wrong. Changes nothing of it. Fails
 * with INVALID_OPTIONS when there is no such file, STORE_IN_USE when a system has it, STORE_INVALID when it is no journal, or
 * one of a format that this version does not read.
 */
export async function checkJournal(path: string): Promise<JournalCheck> {
  const { checkJournalFile } = await import('./check-journal.ts');
  return checkJournalFile(path);
}

/**
 * Gets what is whole out of a journal into a new one, and says what is lost. Changes nothing of the old one. What was
 * settled in commits that are lost waits again in the new one. Fails as `checkJournal` does, with INVALID_OPTIONS when
 * `target` is there, and with STORE_INVALID when nothing can be read.
 */
export async function salvageJournal(path: string, target: string): Promise<Salvaged> {
  const { salvageJournalFile } = await import('./check-journal.ts');
  return salvageJournalFile(path, target);
}

/**
 * Copies a journal to `target`, also while a system has it open, so that a system can be started on the copy; says what is in
 * it. Fails with INVALID_OPTIONS when there is no such file or `target` is there, STORE_INVALID when the journal is not whole,
 * STORE_FAILED when the copy cannot be made, or the journal is written to faster than it can be copied: its system can, by
 * `records.backup`.
 */
export async function backupJournal(path: string, target: string): Promise<JournalCheck> {
  const { backupJournalFile } = await import('./check-journal.ts');
  return backupJournalFile(path, target);
}
