import type { SystemEvent } from '../protocol/system-event.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { HistoryPost } from '../journal/history-post.ts';
import type { JournalThread } from '../journal/journal-thread.ts';

/** Security events that wait to be given to the journal; what comes beyond is counted as missed. */
const WAITING = 4_096;

export interface ControlHistoryDeps {
  readonly journal: Pick<JournalThread, 'remember' | 'envelopes' | 'events'>;
  /** What is remembered cannot be read. */
  readonly onProblem: (error: unknown) => void;
}

/** What the control thread has the journal remember, the security events of all threads, and what it asks of it. */
export class ControlHistory {
  readonly #deps: ControlHistoryDeps;
  readonly #post: HistoryPost;
  #waiting: string[] = [];

  constructor(deps: ControlHistoryDeps) {
    this.#deps = deps;
    this.#post = new HistoryPost((remembered) => deps.journal.remember(remembered));
  }

  remember(event: SystemEvent): void {
    if (this.#waiting.length === WAITING) this.#post.miss(1);
    else this.#waiting.push(JSON.stringify(event));
  }

  /** Gives what waits, unless the last lot is still under way. */
  give(): void {
    if (this.#post.isBusy) return;
    const security = this.#waiting;
    this.#waiting = [];
    this.#post.give({ security });
  }

  /** Gives the last of it, and how much is missing: it is there before whoever is told next to close the journal. */
  close(): void {
    const security = this.#waiting;
    this.#waiting = [];
    this.#post.giveLast({ security });
  }

  /** The envelopes of a conversation; one may come twice. */
  async envelopes(correlationId: string): Promise<readonly A2AEnvelope[]> {
    return this.#asked(() => this.#deps.journal.envelopes(correlationId));
  }

  /** The newest security events and crossings, about `limit` of each. */
  async events(limit: number): Promise<readonly SystemEvent[]> {
    return this.#asked(() => this.#deps.journal.events(limit));
  }

  /** Nothing, and an event, where the journal does not answer: what the threads remember is told all the same. */
  async #asked<Item>(ask: () => Promise<readonly Item[]>): Promise<readonly Item[]> {
    this.give();
    try {
      return await ask();
    } catch (error) {
      this.#deps.onProblem(error);
      return [];
    }
  }
}
