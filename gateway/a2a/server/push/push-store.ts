import { PushRecord } from './push-record.ts';

/**
 * Where the push configs are kept, so that after a restart what no receiver has acknowledged is sent again.
 *
 * - `put`    keeps a record instead of the one of the same task and id; resolves when it survives.
 * - `forget` resolves when it is gone.
 * - `load`   all that are kept.
 */
export interface PushStore {
  put(record: PushRecord): Promise<void>;
  forget(record: PushRecord): Promise<void>;
  load(): Promise<readonly PushRecord[]>;
}

/** The same store: what it throws at once, it rejects with. */
export const rejecting = (store: PushStore): PushStore => ({
  put: async (record) => store.put(record),
  forget: async (record) => store.forget(record),
  load: async () => store.load(),
});

/** A store that lasts as long as the process: the service has all configs in memory. */
export class InMemoryPushStore implements PushStore {
  async put(): Promise<void> {}
  async forget(): Promise<void> {}
  async load(): Promise<readonly PushRecord[]> {
    return [];
  }
}

/**
 * Values that JSON can say, by kind and key: what a system with a journal keeps for its embedder.
 *
 * - `put` keeps a value instead of the one before, undefined forgets it; resolves when that survives. `toTheLast`: also while
 *         the system stops.
 */
export interface KeyValues {
  list(kind: string): Promise<readonly { readonly key: string; readonly value: unknown }[]>;
  put(kind: string, key: string, value: unknown, options?: { readonly toTheLast?: boolean }): Promise<void>;
}

const KIND = 'a2a-push';

/** Push configs as records of a journal. Credentials in them are stored as they are. */
export class JournalledPushStore implements PushStore {
  readonly #records: KeyValues;

  constructor(records: KeyValues) {
    this.#records = records;
  }

  put(record: PushRecord): Promise<void> {
    return this.#records.put(KIND, keyOf(record), record, { toTheLast: true });
  }

  forget(record: PushRecord): Promise<void> {
    return this.#records.put(KIND, keyOf(record), undefined, { toTheLast: true });
  }

  async load(): Promise<readonly PushRecord[]> {
    const kept = await this.#records.list(KIND);
    return kept.map(({ value }) => PushRecord.parse(value) as PushRecord);
  }
}

const keyOf = ({ config }: PushRecord): string => JSON.stringify([config.taskId, config.id]);
