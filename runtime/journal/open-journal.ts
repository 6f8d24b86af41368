import type { JournalFile } from './journal-file.ts';

/**
 * Opens the journal of a system that does not run, to see what it keeps for whom, and to have it forget some of that. Fails
 * with INVALID_OPTIONS when there is no such file, STORE_IN_USE when a system has it, STORE_INVALID when it is no journal.
 */
export async function openJournal(path: string): Promise<JournalFile> {
  // Who has no journal does not load SQLite.
  const { openJournalFile } = await import('./journal-file.ts');
  return openJournalFile(path);
}
