import { goneRecord, processRecord, readProcesses } from '../journal/process-records.ts';
import type { Clock } from '../protocol/seams.ts';
import type { RecordChange, Store } from '../protocol/store.ts';
import { identityOf, isAlive } from '../os/process-identity.ts';

/** A journal that cannot write keeps no agent from starting: its lifeline ends the process, too. */
const MOST_WAIT_MS = 500;

/** A journal, as far as it is to know of processes. */
export interface ProcessJournal extends Pick<Store, 'records'> {
  /** Writes a record, also while the system stops. */
  note(change: RecordChange): void;
  whenKept(): Promise<void>;
}

export interface JournalledProcessesDeps {
  readonly journal: () => ProcessJournal | undefined;
  readonly clock: Clock;
}

/**
 * Notes in the journal which processes there are, so that the next host ends those that this one leaves behind.
 *
 * A process runs no code of its agent before it is noted. What may be left behind before that runs code of ours only,
 * which ends by itself.
 */
export class JournalledProcesses {
  readonly #deps: JournalledProcessesDeps;

  constructor(deps: JournalledProcessesDeps) {
    this.#deps = deps;
  }

  /** Notes a process that was just started, until it is `gone`. Resolves when its agent's code may run. */
  async note(pid: number, gone: Promise<unknown>): Promise<void> {
    const journal = this.#deps.journal();
    const process = journal && identityOf(pid);
    if (process === undefined) return;
    journal?.note(processRecord(process));
    void gone.then(() => journal?.note(goneRecord(process)));
    await this.#within(journal?.whenKept());
  }

  /** Forgets the processes of threads that died: those that are gone. */
  async tidy(): Promise<void> {
    const journal = this.#deps.journal();
    if (journal === undefined) return;
    const noted = await readProcesses(journal);
    for (const process of noted) if (!isAlive(process)) journal.note(goneRecord(process));
  }

  async #within(work: Promise<void> | undefined): Promise<void> {
    let stop: () => void = () => undefined;
    const tooLate = new Promise<void>((resolve) => {
      stop = this.#deps.clock.setTimer(MOST_WAIT_MS, resolve);
    });
    await Promise.race([work, tooLate]);
    stop();
  }
}
