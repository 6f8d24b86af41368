import type { ProcessIdentity } from '../processes/process-identity.ts';
import type { ErrorData } from '../protocol/errors.ts';
import type { Seams } from '../protocol/seams.ts';
import type { PageOf, Store, StoredRecord } from '../protocol/store.ts';
import type { DeadLetter } from '../system/system.ts';
import type { EventLoop } from '../threads/event-loop.ts';
import type { Port } from '../threads/port.ts';
import { Backlog, type LeftMail } from './backlog.ts';
import { JournalServer } from './journal-server.ts';
import { readLetters } from './kept-letters.ts';
import { type AgentRecord, readAgentRecords } from './stored-agent-records.ts';
import { goneRecord, readProcesses } from './kept-processes.ts';
import { readTaken, type TakenId } from './taken-ids.ts';

export interface JournalDeps {
  readonly store: Store;
  /** The path that the threads' rings stand beside; undefined of a store without a file. */
  readonly file: string | undefined;
  readonly seams: Pick<Seams, 'clock' | 'random'>;
  readonly loop: Pick<EventLoop, 'yieldTurn'>;
  /** Undefined: it writes again. */
  readonly onFailure?: (failure: ErrorData | undefined) => void;
}

/** What outlives the process: the store, what former processes left in it, and the lines of those who write. */
export class Journal {
  readonly #store: Store;
  readonly #server: JournalServer;
  readonly #backlog: Backlog;
  /** The dead letters of former processes, oldest first. */
  readonly letters: readonly DeadLetter[];

  private constructor(
    store: Store,
    server: JournalServer,
    { backlog, letters }: { readonly backlog: Backlog; readonly letters: readonly DeadLetter[] },
  ) {
    this.#store = store;
    this.#server = server;
    this.#backlog = backlog;
    this.letters = letters;
  }

  /** Reads what is there. Fails with what the store fails with. */
  static async open({ store, file, ...deps }: JournalDeps): Promise<Journal> {
    const backlog = await Backlog.open(store, file);
    const letters = await readLetters(store);
    return new Journal(store, new JournalServer({ store, ...deps }), { backlog, letters });
  }

  /** The processes of agents that former hosts had noted, and not that they are gone. */
  leftProcesses(): Promise<readonly ProcessIdentity[]> {
    return readProcesses(this.#store);
  }

  /** They are gone. */
  async forgetProcesses(gone: readonly ProcessIdentity[]): Promise<void> {
    await this.#store.write([{ mails: [], settled: [], records: gone.map(goneRecord) }]);
  }

  /** A thread writes from here on. */
  connect(line: Port): void {
    this.#server.add(line);
  }

  // What threads ask

  /** How many envelopes are left for this agent. */
  countLeft(recipient: string): number {
    return this.#backlog.count(recipient);
  }

  /** The oldest that are left for this agent, at most `limit`; they are not given again. */
  takeLeft(recipient: string, limit: number): Promise<readonly LeftMail[]> {
    return this.#backlog.take(recipient, limit);
  }

  /** What this agent took under ids that may be sent again. */
  taken(agent: string): Promise<readonly TakenId[]> {
    return readTaken(this.#store, agent);
  }

  /** What each of these agents keeps, as it was left by whoever has posted something before. */
  async agentRecords(agents: readonly string[]): Promise<readonly (readonly AgentRecord[])[]> {
    await this.#server.whenWritten();
    const found: AgentRecord[][] = [];
    for (const agent of agents) found.push(await readAgentRecords(this.#store, agent));
    return found;
  }

  records(kind: string, page: PageOf<string>): Promise<readonly StoredRecord[]> {
    return this.#store.records(kind, page);
  }

  /** Writes everything that was posted, and closes the store. */
  close(): Promise<void> {
    return this.#server.close();
  }
}
