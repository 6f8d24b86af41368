import { resolve } from 'node:path';
import { allRecords } from '../journal/all-records.ts';
import type { JournalledAgent } from '../journal/journal-survey.ts';
import { invalidOptions, notSerialisable, type OrreryError, refused } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json.ts';
import { requireText } from '../protocol/parse-options.ts';
import type { NodeJournal } from '../thread/node-journal.ts';

/** What an embedder keeps is apart from what the runtime does. */
const OWN = 'own/';

/** A value that is kept. */
export interface JournalRecord {
  readonly key: string;
  readonly value: unknown;
}

/** What the journal keeps for an agent. `isInTeam`: somebody of that id is here, and it is for them. */
export interface TeamAgent extends JournalledAgent {
  readonly isInTeam: boolean;
}

/**
 * What the embedder keeps in the journal, beside its agents' mail: values that JSON can say, by kind and key.
 *
 * Fails with INVALID_OPTIONS in a system without a journal.
 */
export interface JournalRecords {
  /**
   * Resolves when it survives the loss of power. `value` undefined forgets what is there. What is put first is there first:
   * a crash never leaves the second without it. While the system stops only what is put `toTheLast` is kept.
   */
  put(kind: string, key: string, value: unknown, options?: { readonly toTheLast?: boolean }): Promise<void>;
  /** Everything of one kind, in the order of the keys. */
  list(kind: string): Promise<readonly JournalRecord[]>;
  /** The same a page at a time, so that memory does not grow with what there is. */
  read(kind: string): AsyncIterable<JournalRecord>;
  /** For which agents the journal keeps something, and how much. It reads all of it, and writes nothing meanwhile. */
  agents(): Promise<readonly TeamAgent[]>;
  /**
   * Deletes everything that the journal keeps for an agent that is not in the team: envelopes that wait for it, and its
   * state. Resolves to what there was. Fails with REFUSED when the agent is in the team, or nothing is kept for it.
   */
  forgetAgent(agentId: string): Promise<JournalledAgent>;
  /**
   * Copies the journal to `path`, while all goes on: what was kept before it was called is in the copy, with all that belongs to
   * it, and a system can be started on it. Fails with INVALID_OPTIONS when something is there, and STORE_FAILED when it cannot
   * be written; then nothing is left there.
   */
  backup(path: string): Promise<void>;
}

export interface JournalRecordsDeps {
  /** The journal of the embedder's thread; undefined in a system without one. */
  readonly journal: () => NodeJournal | undefined;
  /** Why the system is over, if it is. */
  readonly end: () => OrreryError | undefined;
  readonly isInTeam: (agentId: string) => boolean;
}

export function journalRecords({ journal, end, isInTeam }: JournalRecordsDeps): JournalRecords {
  const open = (): NodeJournal => {
    const error = end();
    if (error !== undefined) throw error;
    const opened = journal();
    if (opened === undefined) throw invalidOptions('journal', undefined, 'a journal, to keep something in');
    return opened;
  };
  return {
    async put(kind, key, value, { toTheLast = false } = {}) {
      requireText('kind', kind);
      requireText('key', key);
      const fault = findUnserialisable(value);
      if (value !== undefined && fault !== undefined) throw notSerialisable(fault.path, fault.kind);
      const kept = open();
      const change = {
        kind: OWN + kind,
        key,
        value: value === undefined ? undefined : JSON.stringify(value),
      };
      if (toTheLast) kept.note(change);
      else kept.record(change);
      await kept.whenKept();
    },
    async list(kind) {
      const found: JournalRecord[] = [];
      for await (const record of this.read(kind)) found.push(record);
      return found;
    },
    async *read(kind) {
      requireText('kind', kind);
      for await (const { key, value } of allRecords(open(), OWN + kind))
        yield { key, value: JSON.parse(value) as unknown };
    },
    async agents() {
      const kept = await open().surveyAgents();
      return kept.map((agent) => ({ ...agent, isInTeam: isInTeam(agent.agentId) }));
    },
    async forgetAgent(agentId) {
      requireText('agentId', agentId);
      const kept = open();
      if (isInTeam(agentId)) throw refused(`${agentId} is in the team`, { agentId });
      const forgotten = await kept.forgetAgent(agentId);
      if (forgotten === undefined) throw refused(`The journal keeps nothing for ${agentId}`, { agentId });
      return forgotten;
    },
    async backup(path) {
      requireText('path', path);
      await open().backup(resolve(path));
    },
  };
}
