import { existsSync } from 'node:fs';
import { invalidOptions, refused } from '../protocol/errors.ts';
import { requireText } from '../protocol/parse-options.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import { readLetters } from './journalled-dead-letters.ts';
import { forgetAgent, type JournalledAgent, surveyAgents } from './journal-survey.ts';
import { SqliteStore } from './sqlite-store.ts';

/** A journal that no system has open, for whoever looks after it. */
export interface JournalFile extends AsyncDisposable {
  /** For whom it keeps something, and how much. */
  agents(): Promise<readonly JournalledAgent[]>;
  /** Those of former systems, oldest first. */
  deadLetters(): Promise<readonly DeadLetter[]>;
  /**
   * Deletes what it keeps for an agent: envelopes that wait, and its state. Resolves to what there was. Fails with REFUSED
   * when there is nothing.
   */
  forget(agentId: string): Promise<JournalledAgent>;
  close(): Promise<void>;
}

/** See `openJournal`. */
export async function openJournalFile(path: string): Promise<JournalFile> {
  requireText('path', path);
  // A store makes the file that it does not find.
  if (!existsSync(path)) throw invalidOptions('path', path, 'the file of a journal');
  const store = SqliteStore.open({ path });
  const close = () => store.close();
  return {
    agents: () => surveyAgents(store),
    deadLetters: () => readLetters(store, path),
    async forget(agentId) {
      requireText('agentId', agentId);
      const forgotten = await forgetAgent(store, agentId);
      if (forgotten === undefined)
        throw refused(`The journal keeps nothing for ${agentId}`, { agentId, path });
      return forgotten;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
