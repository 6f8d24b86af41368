import type { SystemEvent } from '../protocol/system-event.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import type { Clock } from '../protocol/seams.ts';
import { type ErrorData, startFailed, storeFailed } from '../protocol/errors.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import {
  type ProgressSample,
  type ProgressLimits,
  ProgressWatch,
  type NoProgress,
} from '../supervision/progress-watch.ts';
import type { Remembered } from './history.ts';
import type { HistoryLimits } from './journal-options.ts';
import type { MailData } from '../mailbox/mail.ts';
import type { JournalMeasures } from '../observe/measures.ts';
import { newOrderMemory } from './unit-order.ts';
import type { ProcessIdentity } from '../os/process-identity.ts';
import { Connection } from '../link/connection.ts';
import { footingOf, type Spawned, type Spawner } from '../link/spawner.ts';

/** How long it may do nothing when it is closed. */
const CLOSE_MS = 10_000;

/** What the thread needs to open its store. `history`: how much of what happened it keeps, if it does. */
export interface JournalThreadOptions {
  readonly path: string;
  readonly history: HistoryLimits | false;
}

export interface JournalThreadDeps {
  readonly spawner: Spawner;
  readonly clock: Clock;
  /** The open budgets of the whole system. */
  readonly accounts: SharedArrayBuffer;
  readonly starting: ProgressLimits;
  readonly onReport: (report: JournalReport) => void;
}

/** The two ports that a thread writes to the journal and asks it on, as they cross to it. */
export interface JournalPorts {
  readonly line: unknown;
  readonly api: unknown;
}

/** What a thread needs to write to the journal, as it crosses to it. `file`: the path that its own file stands beside. */
export interface JournalAccess extends JournalPorts {
  readonly file: string;
  readonly keepsHistory: boolean;
  readonly order: SharedArrayBuffer;
}

/** The journal's thread, as the control thread has it: opened before anybody writes, closed after the last one. */
export class JournalThread {
  readonly #deps: JournalThreadDeps;
  readonly #options: JournalThreadOptions;
  readonly #spawned: Spawned;
  readonly #connection: Connection<JournalCalls, JournalOrder>;
  readonly #order = newOrderMemory();

  constructor(deps: JournalThreadDeps, options: JournalThreadOptions) {
    this.#deps = deps;
    this.#options = options;
    const { spawner, accounts } = deps;
    this.#spawned = spawner.spawn('orrery-journal', { role: 'journal', options, accounts }, []);
    this.#connection = new Connection(this.#spawned.port);
    this.#connection.serve({}, (report) => deps.onReport(report as JournalReport));
    this.#spawned.onExit((reason) => this.#connection.cut(storeFailed(options.path, 'write', reason)));
  }

  /**
   * Opens the store. Resolves to the dead letters of former processes, oldest first; fails with STORE_IN_USE,
   * STORE_INVALID or STORE_FAILED.
   */
  async open(): Promise<readonly DeadLetter[]> {
    const { path } = this.#options;
    const watch = this.#watch(this.#deps.starting, ({ text }) => {
      this.#connection.cut(startFailed('the thread of the journal', `open ${path}`, text));
    });
    try {
      return await this.#connection.api.open();
    } finally {
      watch.close();
    }
  }

  /** The processes of agents that former hosts had noted, and not that they are gone. */
  leftProcesses(): Promise<readonly ProcessIdentity[]> {
    return this.#connection.api.leftProcesses();
  }

  /** Notes that these processes are gone. */
  forgetProcesses(gone: readonly ProcessIdentity[]): Promise<void> {
    return this.#connection.api.forgetProcesses(gone);
  }

  get keepsHistory(): boolean {
    return this.#options.history !== false;
  }

  /** Takes entries of the history. */
  remember(remembered: Remembered): Promise<void> {
    return this.#connection.api.remember(remembered);
  }

  /** The envelopes of a conversation that the history has; one may come twice. */
  envelopes(correlationId: string): Promise<readonly A2AEnvelope[]> {
    return this.#connection.api.envelopes(correlationId);
  }

  /** The newest security events and crossings of the history, about `limit` of each. */
  events(limit: number): Promise<readonly SystemEvent[]> {
    return this.#connection.api.events(limit);
  }

  /** Of these numbers the mails that are in the journal. */
  mailsAt(numbers: readonly number[]): Promise<readonly MailData[]> {
    return this.#connection.api.mailsAt(numbers);
  }

  /** Undefined when the thread does not say. */
  measures(): Promise<JournalMeasures | undefined> {
    return this.#connection.api.measures().catch(() => undefined);
  }

  /** Lets one more thread write; the ports are to be transferred. */
  connect(): JournalAccess {
    const { spawner } = this.#deps;
    const [line, theirLine] = spawner.channel();
    const [api, theirApi] = spawner.channel();
    const ports = { line: spawner.transferable(theirLine), api: spawner.transferable(theirApi) };
    this.#connection.tell({ t: 'writer', ...ports }, [ports.line, ports.api]);
    const mine = { line: spawner.transferable(line), api: spawner.transferable(api) };
    return { ...mine, file: this.#options.path, keepsHistory: this.keepsHistory, order: this.#order };
  }

  /** Writes what was posted, closes the store and ends the thread. */
  async close(): Promise<void> {
    const tooLate = Promise.withResolvers<void>();
    const watch = this.#watch({ quietMs: CLOSE_MS, computeMs: Infinity }, () => tooLate.resolve());
    await Promise.race([this.#connection.api.close().catch(() => undefined), tooLate.promise]);
    watch.close();
    await this.#spawned.terminate();
  }

  /** However long a large journal takes to be read or written: it uses the processor meanwhile. */
  #watch(limits: ProgressLimits, onStill: (still: NoProgress) => void): ProgressWatch {
    const sample = async (): Promise<ProgressSample> => ({
      ...(await footingOf(this.#spawned)),
      signs: 0,
      beat: 0,
    });
    return new ProgressWatch({ clock: this.#deps.clock, sample, onStill }, limits);
  }
}

/** What the control thread tells the journal's, one way. */
export interface JournalOrder extends JournalPorts {
  readonly t: 'writer';
}

/**
 * What the journal's thread tells the control thread by itself.
 *
 * - `failure` what keeps the journal from writing has changed; undefined: it writes again.
 * - `missing` in the history, a sentence.
 */
export type JournalReport =
  | { readonly t: 'failure'; readonly failure: ErrorData | undefined }
  | { readonly t: 'missing'; readonly reason: string };

/** All that the control thread may call in the journal's. */
export interface JournalCalls {
  /** Resolves to the dead letters of former processes, oldest first. */
  open(): Promise<readonly DeadLetter[]>;
  /** The processes of agents that former hosts had noted, and not that they are gone. */
  leftProcesses(): Promise<readonly ProcessIdentity[]>;
  /** Notes that these processes are gone. */
  forgetProcesses(gone: readonly ProcessIdentity[]): Promise<void>;
  /** Takes entries of the history. */
  remember(remembered: Remembered): Promise<void>;
  /** The envelopes of a conversation that the history has; one may come twice. */
  envelopes(correlationId: string): Promise<readonly A2AEnvelope[]>;
  /** The newest security events and crossings of the history, about `limit` of each. */
  events(limit: number): Promise<readonly SystemEvent[]>;
  /** Of these numbers the mails that are in the journal. */
  mailsAt(numbers: readonly number[]): Promise<readonly MailData[]>;
  measures(): Promise<JournalMeasures>;
  close(): Promise<void>;
}
