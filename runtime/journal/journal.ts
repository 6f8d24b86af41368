import { AccountMemory } from '../budget/account-memory.ts';
import { FormerAccounts, OVER } from '../budget/former-accounts.ts';
import { type Mail, type MailData, mailToData } from '../mailbox/mail.ts';
import { mailFromRecord } from '../mailbox/mail-record.ts';
import type { JournalledFunds } from '../mailbox/journalled-funds.ts';
import type { JournalMeasures } from '../observe/measures.ts';
import type { ProcessIdentity } from '../os/process-identity.ts';
import { type ErrorData, refused } from '../protocol/errors.ts';
import type { Seams, EventLoop } from '../protocol/seams.ts';
import type { NumberedMail, PageOf, Store, StoredRecord } from '../protocol/store.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import type { Port } from '../link/port.ts';
import { Backlog, type LeftMail } from './backlog.ts';
import { History, type Remembered } from './history.ts';
import type { HistoryLimits } from './journal-options.ts';
import { JournalServer } from './journal-server.ts';
import type { JournalReport } from './journal-thread.ts';
import { readLetters } from './journalled-dead-letters.ts';
import { forgetAgent, type JournalledAgent, surveyAgents } from './journal-survey.ts';
import { JournalledSpends } from './journalled-spends.ts';
import { ringFiles, type StartedRings } from './started-ring.ts';
import { type StoredAgentRecord, readAgentRecords } from './stored-agent-records.ts';
import { goneRecord, readProcesses } from './process-records.ts';
import { readTaken, type TakenId } from './taken-ids.ts';

/** As many mails at a time. */
const PAGE = 500;

/**
 * - `file`    the path that the threads' rings stand beside; undefined of a store without a file.
 * - `history` how much of what happened it keeps. @default nothing
 */
export interface JournalOpenOptions {
  readonly file: string | undefined;
  readonly history?: HistoryLimits | false;
}

export interface JournalDeps {
  readonly store: Store;
  /** @default files */
  readonly rings?: StartedRings | undefined;
  /** The open budgets of the whole system. @default it has none */
  readonly accounts?: SharedArrayBuffer | undefined;
  readonly seams: Pick<Seams, 'clock' | 'random'>;
  readonly loop: Pick<EventLoop, 'yieldTurn'>;
  /** Hears what is wrong with it. @default nobody does */
  readonly onReport?: (report: JournalReport) => void;
}

/** The journal: the store, what former processes left in it, and the connections of those who write. */
export class Journal {
  readonly #store: Store;
  readonly #server: JournalServer;
  readonly #backlog: Backlog;
  readonly #spends: JournalledSpends | undefined;
  readonly #formerAccounts: FormerAccounts | undefined;
  /** The dead letters of former processes, oldest first. */
  readonly letters: readonly DeadLetter[];
  /** What it keeps of what happened, if it does. */
  readonly history: History | undefined;

  private constructor(
    store: Store,
    server: JournalServer,
    { backlog, letters, spends, formerAccounts, history }: Found,
  ) {
    this.#store = store;
    this.#server = server;
    this.#backlog = backlog;
    this.#spends = spends;
    this.#formerAccounts = formerAccounts;
    this.letters = letters;
    this.history = history;
  }

  /** Reads what is there. Fails with what the store fails with. */
  static async open(deps: JournalDeps, options: JournalOpenOptions): Promise<Journal> {
    const { store, rings = ringFiles, accounts, seams, loop, onReport = () => undefined } = deps;
    const { file, history: limits = false } = options;
    const backlog = await Backlog.open(store, file, rings);
    const letters = await readLetters(store, file);
    const spends =
      file === undefined
        ? undefined
        : await JournalledSpends.open({ store, files: rings.spends, journal: file, named: backlog.accounts });
    const formerAccounts =
      accounts && spends && new FormerAccounts({ memory: accounts, spent: () => spends.read() });
    if (accounts !== undefined) new AccountMemory(accounts).run = spends?.run ?? 0;
    const onFailure = (failure: ErrorData | undefined): void => onReport({ t: 'failure', failure });
    const server = new JournalServer({ store, seams, loop, onFailure });
    const onMissing = (reason: string): void => onReport({ t: 'missing', reason });
    const history =
      limits === false
        ? undefined
        : await History.open({ store, clock: seams.clock, loop, limits, onMissing });
    return new Journal(store, server, { backlog, letters, spends, formerAccounts, history });
  }

  /** The processes of agents that former hosts had noted, and not that they are gone. */
  leftProcesses(): Promise<readonly ProcessIdentity[]> {
    return readProcesses(this.#store);
  }

  /** Notes that these processes are gone. */
  async forgetProcesses(gone: readonly ProcessIdentity[]): Promise<void> {
    await this.#store.write([{ mails: [], settled: [], records: gone.map(goneRecord) }]);
  }

  measures(): JournalMeasures {
    return { bytes: this.#store.bytes?.() ?? 0, ...this.#server.measures };
  }

  /** Connects a thread, which may then write. */
  connect(line: Port): void {
    this.#server.add(line);
  }

  /** Of these numbers the mails that are here and not settled. One that cannot be read is not among them. */
  async mailsAt(numbers: readonly number[]): Promise<readonly MailData[]> {
    const mails: MailData[] = [];
    for (let at = 0; at < numbers.length; at += PAGE)
      for (const kept of await this.#store.mailsAt(numbers.slice(at, at + PAGE))) {
        const mail = readMail(kept);
        if (mail !== undefined) mails.push(mailToData(mail));
      }
    return mails;
  }

  // What threads ask

  /** How many envelopes are left for this agent, which the thread of `incarnation` has now. */
  countLeft(recipient: string, incarnation: number): number {
    return this.#backlog.count(recipient, incarnation);
  }

  /** The oldest that are left for this agent, at most `limit`; not given again, unless the thread dies before they are held. */
  takeLeft(recipient: string, limit: number, incarnation: number): Promise<readonly LeftMail[]> {
    return this.#backlog.take(recipient, limit, incarnation);
  }

  /** What was given of these outlives the thread that has it. A thread that takes the agent over says so before it takes more. */
  heldLeft(recipient: string, numbers: readonly number[]): void {
    this.#backlog.held(recipient, numbers);
  }

  /** Opens accounts for what was left, from which no more is spent than was left; the thread of `incarnation` closes them. */
  openAccounts(funds: readonly JournalledFunds[], incarnation: number): readonly number[] {
    return this.#formerAccounts?.open(funds, incarnation) ?? [];
  }

  /** What this agent took under ids that may be sent again. */
  taken(agent: string): Promise<readonly TakenId[]> {
    return readTaken(this.#store, agent, this.#server.unwritten());
  }

  /**
   * What each of these agents keeps, as it was left by whoever has posted something before. Whether that is written yet makes
   * no difference in this process: whatever comes of it is written after it.
   */
  async agentRecords(agents: readonly string[]): Promise<readonly (readonly StoredAgentRecord[])[]> {
    const unwritten = this.#server.unwritten();
    const found: StoredAgentRecord[][] = [];
    for (const agent of agents) found.push(await readAgentRecords(this.#store, agent, { unwritten }));
    return found;
  }

  /** For whom it keeps something, and how much. */
  async surveyAgents(): Promise<readonly JournalledAgent[]> {
    await this.#server.whenWritten();
    return surveyAgents(this.#store);
  }

  /** Deletes everything that it keeps for an agent that is not in the team; undefined when there is nothing. */
  async forgetAgent(agentId: string): Promise<JournalledAgent | undefined> {
    await this.#server.whenWritten();
    this.#backlog.forget(agentId);
    return forgetAgent(this.#store, agentId);
  }

  /** Takes entries of the history, and returns at once. */
  remember(remembered: Remembered): void {
    this.history?.add(remembered);
  }

  records(kind: string, page: PageOf<string>): Promise<readonly StoredRecord[]> {
    return this.#store.records(kind, page);
  }

  /**
   * Copies what is written to `target`, while all goes on. Fails with INVALID_OPTIONS when something is there, and as the store
   * does.
   */
  async backup(target: string): Promise<void> {
    if (this.#store.backup === undefined)
      throw refused('The store of this journal makes no backups', { target });
    await this.#store.backup(target);
  }

  /** Writes everything that was posted, and closes the store. */
  async close(): Promise<void> {
    // Where that cannot be written, the next process takes the machine's word for it that nothing was lost.
    await this.#spends?.end().catch(() => undefined);
    await this.history?.close();
    await this.#server.close();
  }
}

/** Reads a mail; if its account is not known, it has nothing to spend. */
function readMail(kept: NumberedMail): Mail | undefined {
  try {
    const mail = mailFromRecord(kept);
    if (mail.extras?.funds !== undefined) mail.extras = { ...mail.extras, account: OVER };
    return mail;
  } catch {
    return undefined;
  }
}

/** What was there when it was opened. */
interface Found {
  readonly backlog: Backlog;
  readonly letters: readonly DeadLetter[];
  readonly spends: JournalledSpends | undefined;
  readonly formerAccounts: FormerAccounts | undefined;
  readonly history: History | undefined;
}
