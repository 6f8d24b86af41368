import type { SyncSnapshot, UpdateLog } from './update-log.ts';

export interface LogWriterDeps {
  readonly log: UpdateLog;
  readonly snapshot: () => SyncSnapshot;
  readonly onCompacted: (updates: number, bytes: number) => void;
  readonly onFailed: (error: unknown) => void;
}

interface LogLimits {
  readonly compactAfterUpdates: number;
  readonly compactAfterBytes: number;
}

/**
 * Writes the log, and has a snapshot take the place of its updates when they have become many or large, or when one of them
 * could not be written: a snapshot holds that again.
 */
export class LogWriter {
  readonly #deps: LogWriterDeps;
  readonly #limits: LogLimits;
  /** Records that could not be applied: each snapshot leaves them in the log. */
  #unread: readonly Uint8Array[] = [];
  #updates = 0;
  #bytes = 0;
  /** The number of the last write: says which snapshot holds an update that was not written. */
  #writes = 0;
  #lastLost = 0;
  #lastSnapshot = 0;
  #failure: unknown;
  /** Failures in a row, and updates to wait before the next try. */
  #failures = 0;
  #patience = 0;
  #open = 0;
  #isCompacting = false;
  #written: Promise<void> = Promise.resolve();

  constructor(deps: LogWriterDeps, limits: LogLimits) {
    this.#deps = deps;
    this.#limits = limits;
  }

  /** Nothing waits to be written. */
  get isIdle(): boolean {
    return this.#open === 0;
  }

  append(update: Uint8Array): void {
    this.#updates += 1;
    this.#bytes += update.length;
    this.#patience = Math.max(0, this.#patience - 1);
    this.#append(update);
  }

  /**
   * Replaces what was loaded by one snapshot, and leaves `unread`, which could not be applied. Resolves when that is
   * written, or has failed: then what was loaded is still there.
   */
  begin(unread: readonly Uint8Array[]): Promise<void> {
    this.#unread = unread;
    this.#compact();
    return this.flush();
  }

  /** Tries once more to apply what could not be applied. Says whether `apply` took any of it. */
  retryUnread(apply: (record: Uint8Array) => boolean): boolean {
    const before = this.#unread.length;
    this.#unread = this.#unread.filter((record) => !apply(record));
    return this.#unread.length < before;
  }

  /** Compacts when it is due. The document and its clock must agree. */
  compactIfDue(): void {
    const { compactAfterUpdates, compactAfterBytes } = this.#limits;
    const isDue = this.#isBehind || this.#updates >= compactAfterUpdates || this.#bytes >= compactAfterBytes;
    if (isDue && !this.#isCompacting && this.#patience === 0) this.#compact();
  }

  /** Compacts again after a failure, or if an update was not written: there may be room by now. */
  tryAgain(): void {
    if (this.#failures > 0 && !this.#isCompacting) this.#compact();
  }

  /** Resolves when everything so far is written. Tries once more what failed, and rejects if that fails again. */
  async whenKept(): Promise<void> {
    await this.flush();
    if (this.#isBehind && !this.#isCompacting) this.#compact();
    await this.flush();
    if (this.#isBehind) throw this.#failure;
  }

  /** Resolves when everything so far is written, or has failed. */
  flush(): Promise<void> {
    return this.#written;
  }

  /** Whether an update could not be written, and no snapshot holds it. */
  get #isBehind(): boolean {
    return this.#lastLost > this.#lastSnapshot;
  }

  #append(update: Uint8Array): void {
    const number = ++this.#writes;
    this.#write(this.#deps.log.append(update), {
      onFailed: (error) => {
        this.#lastLost = Math.max(this.#lastLost, number);
        this.#fail(error);
      },
    });
  }

  #compact(): void {
    const [updates, bytes] = [this.#updates, this.#bytes];
    const number = ++this.#writes;
    this.#isCompacting = true;
    this.#updates = 0;
    this.#bytes = 0;
    this.#write(this.#deps.log.compact(this.#deps.snapshot()), {
      onDone: () => {
        this.#isCompacting = false;
        this.#lastSnapshot = number;
        this.#failures = 0;
        if (updates > 0) this.#deps.onCompacted(updates, bytes);
      },
      onFailed: (error) => {
        this.#isCompacting = false;
        this.#updates += updates;
        this.#bytes += bytes;
        this.#fail(error);
      },
    });
    for (const record of this.#unread) this.#append(record);
  }

  #fail(error: unknown): void {
    this.#failure = error;
    this.#patience = Math.min(2 ** this.#failures, this.#limits.compactAfterUpdates);
    this.#failures += 1;
    this.#deps.onFailed(error);
  }

  #write(
    work: Promise<void> | undefined,
    { onDone = () => {}, onFailed }: { onDone?: () => void; onFailed: (error: unknown) => void },
  ): void {
    if (work === undefined) return onDone();
    this.#open += 1;
    const settled = work.then(onDone, onFailed).then(() => {
      this.#open -= 1;
    });
    this.#written = this.#written.then(() => settled);
  }
}
