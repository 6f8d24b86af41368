/**
 * A document at one time, with its history as far as Yjs keeps it.
 *
 * - `state`       a Yjs update that makes the document out of an empty one.
 * - `vectorClock` how many updates of each member it holds, in the stays that `sessions` names.
 * - `takenAtMs`   Unix milliseconds.
 */
export interface SyncSnapshot {
  readonly state: Uint8Array;
  readonly vectorClock: Readonly<Record<string, number>>;
  readonly sessions: Readonly<Record<string, number>>;
  readonly takenAtMs: number;
}

/**
 * What a log holds: its last snapshot and the updates after it.
 *
 * - `unreadable` sentences about what it holds beside these and cannot make out.
 */
export interface LoadedDocument {
  readonly snapshot?: SyncSnapshot | undefined;
  readonly updates: readonly Uint8Array[];
  readonly unreadable?: readonly string[];
}

/**
 * Where a channel keeps its document. Calls take effect in the order in which they are made; `load` comes first.
 *
 * - `append`  adds one Yjs update.
 * - `compact` puts the snapshot in the place of everything so far, the updates and the snapshot before it: wholly, or not at
 *             all when it rejects.
 *
 * Both resolve when what they say outlasts whatever the log is made to outlast, and until then nobody is told of it; undefined
 * is returned when it does already. When `append` rejects, later updates may build on one that is not there; the next `compact` holds it again.
 */
export interface UpdateLog {
  append(update: Uint8Array): Promise<void> | undefined;
  compact(snapshot: SyncSnapshot): Promise<void> | undefined;
  load(): Promise<LoadedDocument>;
}

/** A log that lasts as long as the process. */
export class InMemoryUpdateLog implements UpdateLog {
  #snapshot: SyncSnapshot | undefined;
  #updates: Uint8Array[] = [];

  append(update: Uint8Array): Promise<void> | undefined {
    this.#updates.push(update);
    return undefined;
  }

  compact(snapshot: SyncSnapshot): Promise<void> | undefined {
    this.#snapshot = snapshot;
    this.#updates = [];
    return undefined;
  }

  async load(): Promise<LoadedDocument> {
    return { snapshot: this.#snapshot, updates: [...this.#updates] };
  }
}
