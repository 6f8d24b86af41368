import { Fifo } from '../mailbox/fifo.ts';
import { type Lane, isToBeKept, type Mail } from '../mailbox/mail.ts';
import { MailRecorder } from '../mailbox/mail-record.ts';
import { type ErrorData, errorToData, notSerialisable, type OrreryError } from '../protocol/errors.ts';
import type { RecordChange, StoreBatch, StoredMail } from '../protocol/store.ts';
import type { AgentRow } from '../protocol/agent-row.ts';

/**
 * The thread's connection to the journal, which takes its units.
 *
 * - `write`   hands a unit over. `done` is called when it survives the loss of power, in the order of the units, with the
 *             number of its first mail. A unit that is not awaited may be written some milliseconds later, with others.
 * - `isFull`  too much is under way: nothing more is taken for now.
 * - `failure` why the journal cannot write at present; it goes on trying.
 */
export interface UnitLog {
  write(unit: StoreBatch, done: (firstMail: number) => void, isAwaited: boolean): void;
  readonly isFull: boolean;
  readonly failure: ErrorData | undefined;
}

/** With so much mail a unit is written while the handler that sends it still runs. */
const AHEAD = 256;

/** Work that is not done before the mail that it sent is kept. */
export interface Sender {
  keeps(count: number): void;
}

/** A mail to a durable recipient, before it is kept. */
export interface Sending {
  readonly row: AgentRow;
  readonly lane: Lane;
  readonly mail: Mail;
  readonly senderSlot: number;
  readonly sender: Sender | undefined;
}

export interface JournalWriterDeps {
  readonly log: UnitLog;
  /** Posts a mail once it is kept. */
  readonly post: (sending: Sending) => void;
  /** Has `flush` called soon. */
  readonly plan: () => void;
}

/**
 * Writes what one thread gives to the journal, in units: mail for durable recipients, and the numbers of settled mail.
 *
 * Mail is posted when it is kept: nobody starts on an envelope that a crash could make unsent. A handler that sent such mail
 * is done when it is kept, so its own envelope is not settled before.
 */
export class JournalWriter {
  /** Called just before a unit is made; records that are added then are part of it. */
  beforeUnit: () => void = () => undefined;
  readonly #deps: JournalWriterDeps;
  readonly #recorder = new MailRecorder();
  #sendings: Sending[] = [];
  #settled: number[] = [];
  #records: RecordChange[] = [];
  /** Called when everything handed over before them is kept. */
  #waiters: (() => void)[] = [];
  /** The numbers that each unit under way reports as settled. */
  readonly #open = new Fifo<readonly number[]>();

  constructor(deps: JournalWriterDeps) {
    this.#deps = deps;
  }

  /** Why the journal cannot write at present. */
  get failure(): ErrorData | undefined {
    return this.#deps.log.failure;
  }

  /** Nothing is under way. */
  get isIdle(): boolean {
    return this.#open.length === 0 && !this.#hasNews;
  }

  add(sending: Sending): void {
    sending.sender?.keeps(1);
    if (this.#sendings.push(sending) >= AHEAD && this.#mayGoAhead) this.#write([], [], []);
    else this.#deps.plan();
  }

  /** Notes that the outcome of the mail with this number is known. */
  settled(number: number): void {
    this.#settled.push(number);
    this.#deps.plan();
  }

  record(change: RecordChange): void {
    this.#records.push(change);
    this.#deps.plan();
  }

  /** The numbers of settled mail that the journal does not know as settled yet. */
  unsettled(): number[] {
    const underWay = Array.from({ length: this.#open.length }, (_, at) => this.#open.at(at) ?? []);
    return [...underWay.flat(), ...this.#settled];
  }

  /** Resolves when everything so far is kept. */
  whenKept(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      this.#deps.plan();
    });
  }

  flush(): void {
    if (!(this.#hasNews || this.#waiters.length > 0) || this.#deps.log.isFull) return;
    this.beforeUnit();
    const settled = this.#settled;
    const records = this.#records;
    const waiters = this.#waiters;
    this.#settled = [];
    this.#records = [];
    this.#waiters = [];
    this.#write(settled, records, waiters);
  }

  /** Mail of a handler that sends much may be written before the handler ends, unless older notes have to be written first. */
  get #mayGoAhead(): boolean {
    return this.#settled.length === 0 && this.#records.length === 0 && !this.#deps.log.isFull;
  }

  #write(
    settled: readonly number[],
    records: readonly RecordChange[],
    waiters: readonly (() => void)[],
  ): void {
    const sendings = this.#sendings;
    const mails: StoredMail[] = [];
    const isKept = sendings.map(({ mail }) => this.#keep(mail, mails));
    this.#sendings = [];
    this.#open.push(settled);
    const isAwaited = sendings.length > 0 || waiters.length > 0;
    const done = (firstMail: number): void => {
      this.#open.shift();
      let number = firstMail;
      for (let at = 0; at < sendings.length; at++) {
        const sending = sendings[at] as Sending;
        if (isKept[at] === true) sending.mail.kept = number++;
        this.#deps.post(sending);
      }
      for (const { sender } of sendings) sender?.keeps(-1);
      for (const tell of waiters) tell();
    };
    this.#deps.log.write({ mails, settled, records }, done, isAwaited);
  }

  /** Adds what is kept of `mail` to `mails`; false when it is not. */
  #keep(mail: Mail, mails: StoredMail[]): boolean {
    if (!isToBeKept(mail)) return false;
    try {
      mails.push({ recipient: mail.recipient, body: this.#recorder.record(mail) });
      return true;
    } catch (error) {
      mail.tombstone ??= errorToData(uncarriable(error));
      return false;
    }
  }

  get #hasNews(): boolean {
    return this.#sendings.length > 0 || this.#settled.length > 0 || this.#records.length > 0;
  }
}

const uncarriable = (error: unknown): OrreryError => notSerialisable('payload', (error as Error).message);
