import { allRecords } from '../journal/all-records.ts';
import type { KeptAgent } from '../journal/journal-survey.ts';
import { invalidOptions, notSerialisable, type OrreryError, refused } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json-safety.ts';
import { requireText } from '../protocol/parse-options.ts';
import type { PlaceJournal } from '../threads/place-journal.ts';

/** What an embedder keeps is apart from what the runtime does. */
const OWN = 'own/';

/** A value that is kept. */
export interface KeptRecord {
  readonly key: string;
  readonly value: unknown;
}

/** What the journal keeps for an agent. `isInTeam`: somebody of that id is here, and it is for them. */
export interface TeamAgent extends KeptAgent {
  readonly isInTeam: boolean;
}

/**
 * What the embedder keeps in the journal, beside its agents' mail: values that JSON can say, by kind and key.
 *
 * Fails with INVALID_OPTIONS in a system without a journal.
 */
export interface KeptRecords {
  /** Resolves when it survives the loss of power. `value` undefined forgets what is there. */
  put(kind: string, key: string, value: unknown): Promise<void>;
  /** Everything of one kind, in the order of the keys. */
  list(kind: string): Promise<readonly KeptRecord[]>;
  /** For which agents the journal keeps something, and how much. It reads all of it, and writes nothing meanwhile. */
  agents(): Promise<readonly TeamAgent[]>;
  /**
   * Deletes everything that the journal keeps for an agent that is not in the team: envelopes that wait for it, and its
   * state. Resolves to what there was. Fails with REFUSED when the agent is in the team, or nothing is kept for it.
   */
  forgetAgent(agentId: string): Promise<KeptAgent>;
}

export interface KeptRecordsDeps {
  /** The journal of the embedder's thread; undefined in a system without one. */
  readonly journal: () => PlaceJournal | undefined;
  /** Why the system is over, if it is. */
  readonly end: () => OrreryError | undefined;
  readonly isInTeam: (agentId: string) => boolean;
}

export function keptRecords({ journal, end, isInTeam }: KeptRecordsDeps): KeptRecords {
  const open = (): PlaceJournal => {
    const error = end();
    if (error !== undefined) throw error;
    const opened = journal();
    if (opened === undefined) throw invalidOptions('journal', undefined, 'a journal, to keep something in');
    return opened;
  };
  return {
    async put(kind, key, value) {
      requireText('kind', kind);
      requireText('key', key);
      const fault = findUnserialisable(value);
      if (value !== undefined && fault !== undefined) throw notSerialisable(fault.path, fault.kind);
      const kept = open();
      kept.record({ kind: OWN + kind, key, value: value === undefined ? undefined : JSON.stringify(value) });
      await kept.whenKept();
    },
    async list(kind) {
      requireText('kind', kind);
      const kept = open();
      const found: KeptRecord[] = [];
      for await (const { key, value } of allRecords(kept, OWN + kind))
        found.push({ key, value: JSON.parse(value) as unknown });
      return found;
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
  };
}
