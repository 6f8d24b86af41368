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
 * Where a channel keeps its document. Calls take effect in the order in which they are made.
 *
 * - `append`  adds one Yjs update.
 * - `compact` puts the snapshot in the place of everything so far: the updates and the snapshot before it.
 * - `load`    the last snapshot and the updates after it.
 */
export interface UpdateLog {
  append(update: Uint8Array): Promise<void>;
  compact(snapshot: SyncSnapshot): Promise<void>;
  load(): Promise<{ readonly snapshot?: SyncSnapshot | undefined; readonly updates: readonly Uint8Array[] }>;
}

/** A log that lasts as long as the process. */
export class InMemoryUpdateLog implements UpdateLog {
  #snapshot: SyncSnapshot | undefined;
  #updates: Uint8Array[] = [];

  async append(update: Uint8Array): Promise<void> {
    this.#updates.push(update);
  }

  async compact(snapshot: SyncSnapshot): Promise<void> {
    this.#snapshot = snapshot;
    this.#updates = [];
  }

  async load() {
    return { snapshot: this.#snapshot, updates: [...this.#updates] };
  }
}

export interface LogKeeperDeps {
  readonly log: UpdateLog;
  readonly snapshot: () => SyncSnapshot;
  readonly onCompacted: (updates: number, bytes: number) => void;
  readonly onFailed: (error: unknown) => void;
}

/** Writes the log, and has a snapshot take the place of its updates when they have become many or large. */
export class LogKeeper {
  readonly #deps: LogKeeperDeps;
  readonly #limits: { readonly compactAfterUpdates: number; readonly compactAfterBytes: number };
  #updates = 0;
  #bytes = 0;
  #written: Promise<void> = Promise.resolve();

  constructor(
    deps: LogKeeperDeps,
    limits: { readonly compactAfterUpdates: number; readonly compactAfterBytes: number },
  ) {
    this.#deps = deps;
    this.#limits = limits;
  }

  append(update: Uint8Array): void {
    this.#updates += 1;
    this.#bytes += update.length;
    this.#write(this.#deps.log.append(update));
  }

  /** Compacts when it is due. The document and its clock must agree. */
  compactIfDue(): void {
    const { compactAfterUpdates, compactAfterBytes } = this.#limits;
    if (this.#updates < compactAfterUpdates && this.#bytes < compactAfterBytes) return;
    const [updates, bytes] = [this.#updates, this.#bytes];
    this.#updates = 0;
    this.#bytes = 0;
    this.#write(this.#deps.log.compact(this.#deps.snapshot()));
    this.#deps.onCompacted(updates, bytes);
  }

  /** Resolves when everything so far is written, or has failed. */
  flush(): Promise<void> {
    return this.#written;
  }

  #write(work: Promise<void>): void {
    const settled = work.catch((error: unknown) => this.#deps.onFailed(error));
    this.#written = this.#written.then(() => settled);
  }
}
