import type { Remembered } from './history.ts';
import { Journal } from './journal.ts';
import type { StartedRings } from './started-ring.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { MailData } from '../mailbox/mail.ts';
import type { JournalMeasures } from '../observe/measures.ts';
import type { ProcessIdentity } from '../os/process-identity.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { storeFailed } from '../protocol/errors.ts';
import type { Seams, EventLoop } from '../protocol/seams.ts';
import type { Store } from '../protocol/store.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import { Connection } from '../link/connection.ts';
import type { JournalCalls, JournalReport, JournalThreadOptions } from './journal-thread.ts';
import type { Port } from '../link/port.ts';

export interface JournalHostDeps {
  readonly openStore: (path: string) => Promise<Store>;
  /** Where the threads note what they begin on. @default files */
  readonly rings?: StartedRings | undefined;
  /** The open budgets of the whole system. */
  readonly accounts: SharedArrayBuffer;
  readonly seams: Seams;
  readonly loop: EventLoop;
  readonly onReport: (report: JournalReport) => void;
}

/** The journal in its own thread: does what the control thread says, and lets threads write that it is told of. */
export class JournalHost implements JournalCalls {
  readonly #deps: JournalHostDeps;
  readonly #options: JournalThreadOptions;
  #journal: Journal | undefined;

  constructor(deps: JournalHostDeps, options: JournalThreadOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  async open(): Promise<readonly DeadLetter[]> {
    const { openStore, ...deps } = this.#deps;
    const { path, history } = this.#options;
    const store = await openStore(path);
    this.#journal = await Journal.open({ store, ...deps }, { file: path, history });
    return this.#journal.letters;
  }

  async leftProcesses(): Promise<readonly ProcessIdentity[]> {
    return this.#open.leftProcesses();
  }

  async forgetProcesses(gone: readonly ProcessIdentity[]): Promise<void> {
    await this.#open.forgetProcesses(gone);
  }

  async remember(remembered: Remembered): Promise<void> {
    this.#journal?.remember(remembered);
  }

  async envelopes(correlationId: string): Promise<readonly A2AEnvelope[]> {
    return (await this.#open.history?.envelopes(correlationId)) ?? [];
  }

  async events(limit: number): Promise<readonly SystemEvent[]> {
    return (await this.#open.history?.events(limit)) ?? [];
  }

  async mailsAt(numbers: readonly number[]): Promise<readonly MailData[]> {
    return this.#open.mailsAt(numbers);
  }

  async measures(): Promise<JournalMeasures> {
    return this.#open.measures();
  }

  /** Connects a thread, which may then write on `line` and ask on `api`. */
  welcome(line: Port, api: Port): void {
    this.#open.connect(line);
    new Connection(api).serve<Journal>(this.#open);
  }

  async close(): Promise<void> {
    await this.#journal?.close();
  }

  get #open(): Journal {
    if (this.#journal === undefined) throw storeFailed(this.#options.path, 'write', 'it is not open');
    return this.#journal;
  }
}
