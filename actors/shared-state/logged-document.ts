import type * as Y from 'yjs';
import { reasonOf } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { CausalClock } from './causal-clock.ts';
import { type DocumentFault, GuardedDocument } from './guarded-document.ts';
import { LogWriter } from './log-writer.ts';
import type { SyncReporter } from './sync-event.ts';
import type { SyncLimits } from './sync-options.ts';
import type { UpdateLog } from './update-log.ts';

/** `onLocalChange` hears every change that this end did not apply itself. */
export interface LoggedDocumentDeps {
  readonly agentId: string;
  readonly clock: Clock;
  readonly log: UpdateLog;
  readonly reporter: SyncReporter;
  readonly onLocalChange: (update: Uint8Array) => void;
}

/**
 * One member's copy of the shared document: its content, how many updates of each member are in it, and the log of both.
 * A snapshot in the log is of content and counts at the same moment.
 */
export class LoggedDocument {
  readonly agentId: string;
  readonly content: GuardedDocument;
  readonly counted: CausalClock;
  readonly log: LogWriter;
  readonly #updates: UpdateLog;
  readonly #reporter: SyncReporter;

  constructor(doc: Y.Doc, deps: LoggedDocumentDeps, limits: SyncLimits) {
    const { agentId, clock, reporter } = deps;
    this.agentId = agentId;
    this.#updates = deps.log;
    this.#reporter = reporter;
    this.content = new GuardedDocument(doc, deps.onLocalChange);
    this.counted = new CausalClock(agentId, clock.now());
    this.log = new LogWriter(
      {
        log: deps.log,
        snapshot: () => ({
          state: this.content.stateSince(),
          vectorClock: this.counted.toRecord(),
          sessions: this.counted.sessions(),
          takenAtMs: clock.now(),
        }),
        onCompacted: (updates, bytes) =>
          reporter.tell('compacted', agentId, `a snapshot replaces ${updates} updates, ${bytes} bytes`),
        onFailed: (error) => reporter.tell('log-failed', agentId, reasonOf(error)),
      },
      limits,
    );
  }

  /** Takes over what the log holds, and counts on. Records that cannot be read or applied are reported, and stay in the log. */
  async load(): Promise<void> {
    const { snapshot, updates, unreadable = [] } = await this.#updates.load();
    this.counted.resume(snapshot ?? { vectorClock: {}, sessions: {} }, updates.length);
    const skipped = [...unreadable];
    const unread: Uint8Array[] = [];
    for (const record of snapshot === undefined ? updates : [snapshot.state, ...updates]) {
      const fault = this.#applyRecord(record);
      if (fault === undefined) continue;
      unread.push(record);
      skipped.push(`a record is skipped: ${fault.reason}`);
    }
    for (const reason of skipped) this.#reporter.tell('log-failed', this.agentId, reason);
    // The stay is kept before anybody hears of it.
    await this.log.begin(unread);
  }

  /** Tries once more to apply the records that could not be applied. Says whether any was. */
  retryUnread(): boolean {
    return this.log.retryUnread((record) => this.#applyRecord(record) === undefined);
  }

  /** Applies an update that was just rehearsed. Says whether it changed anything; a listener that threw is an event. */
  apply(update: Uint8Array, sourceAgentId: string): boolean {
    const { hasChanged, thrown } = this.content.apply(update);
    if (thrown !== undefined) this.#reporter.tell('handler-failed', sourceAgentId, reasonOf(thrown));
    return hasChanged;
  }

  /** Applies a record of the log, or says what is wrong with it. */
  #applyRecord(record: Uint8Array): DocumentFault | undefined {
    const fault = this.content.rehearse(record);
    if (fault === undefined) this.content.apply(record);
    return fault;
  }
}
