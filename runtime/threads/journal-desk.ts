import { Journal } from '../journal/journal.ts';
import { storeFailed } from '../protocol/errors.ts';
import type { Seams } from '../protocol/seams.ts';
import type { Store } from '../protocol/store.ts';
import type { DeadLetter } from '../system/system.ts';
import { exposeApi } from './calls.ts';
import type { EventLoop } from './event-loop.ts';
import type { WriterMessage } from './journal-thread.ts';
import type { Port } from './port.ts';

export interface JournalDeskDeps {
  readonly path: string;
  readonly openStore: (path: string) => Promise<Store>;
  readonly received: (port: unknown) => Port;
  readonly seams: Seams;
  readonly loop: EventLoop;
}

/** The journal in its own thread: does what the control thread says, and lets threads write that it is told of. */
export class JournalDesk {
  readonly #deps: JournalDeskDeps;
  #journal: Journal | undefined;

  constructor(deps: JournalDeskDeps) {
    this.#deps = deps;
  }

  /** Resolves to the dead letters of former processes, oldest first. */
  async open(): Promise<readonly DeadLetter[]> {
    const { path, openStore, seams, loop } = this.#deps;
    const store = await openStore(path);
    this.#journal = await Journal.open({ store, file: path, seams, loop });
    return this.#journal.letters;
  }

  /** A thread writes and asks from here on. */
  welcome({ line, api }: WriterMessage): void {
    const { path, received } = this.#deps;
    if (this.#journal === undefined) throw storeFailed(path, 'write', 'it is not open');
    this.#journal.connect(received(line));
    exposeApi(this.#journal, received(api));
  }

  async close(): Promise<void> {
    await this.#journal?.close();
  }
}
