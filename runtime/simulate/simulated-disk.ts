import { MemoryMedium, MemoryStore } from '../journal/memory-store.ts';
import type { StartedRings } from '../journal/started-ring.ts';
import { storeFailed } from '../protocol/errors.ts';
import type { Store, StoreBatch } from '../protocol/store.ts';
import type { Chance } from './chance.ts';
import type { WriteFate } from './disk-faults.ts';
import type { VirtualThread } from './virtual-thread.ts';
import type { SpentAmounts } from '../budget/spend-notes.ts';
import type { SpendFiles, Spender } from '../journal/spend-file.ts';

/** What a simulated system is given where the path of a journal is asked for. */
export const SIMULATED_PATH = 'simulated';

export interface SimulatedDiskDeps {
  /** How a write goes that begins now. */
  readonly fate: () => WriteFate;
  /** Has `run` called in this thread, so much later. */
  readonly later: (thread: VirtualThread, ms: number, run: () => void) => void;
  readonly chance: Chance;
  /** Units have been written; `firstMails` has the number of the first mail of each. */
  readonly onWritten: (batches: readonly StoreBatch[], firstMails: readonly number[]) => void;
}

/**
 * The disk of a simulated machine: a journal, and what threads have noted beside it. It outlives the processes that write
 * to it.
 */
export class SimulatedDisk {
  readonly rings: StartedRings;
  readonly #deps: SimulatedDiskDeps;
  readonly #medium = new MemoryMedium();
  /** What each thread has noted. */
  readonly #noted = new Map<number, Set<number>>();
  readonly #spends = new SimulatedSpends();
  #store: MemoryStore | undefined;

  constructor(deps: SimulatedDiskDeps) {
    this.#deps = deps;
    this.rings = {
      open: (_journal, incarnation) => {
        const numbers = new Set<number>();
        this.#noted.set(incarnation, numbers);
        return {
          note: (begun) => {
            for (const number of begun) numbers.add(number);
          },
          retract: (ahead) => {
            for (const number of ahead) numbers.delete(number);
          },
          close: () => undefined,
        };
      },
      read: () => new Set([...this.#noted.values()].flatMap((numbers) => [...numbers])),
      remove: () => this.#noted.clear(),
      spends: this.#spends,
    };
  }

  /** Envelopes in the journal whose outcome it does not know. */
  get mails(): MemoryMedium['mails'] {
    return this.#medium.mails;
  }

  /** Opens the journal in its thread. */
  open(thread: VirtualThread): Store {
    const store = new MemoryStore({ medium: this.#medium, beforeWrite: () => this.#write(thread) });
    this.#store = store;
    return {
      write: async (batches) => {
        const firstMails = await store.write(batches);
        this.#deps.onWritten(batches, firstMails);
        return firstMails;
      },
      mails: (page) => store.mails(page),
      mailsAt: (numbers) => store.mailsAt(numbers),
      records: (kind, page) => store.records(kind, page),
      close: () => store.close(),
    };
  }

  /**
   * The process has ended. What it was writing is there whole or not at all; what it had noted beside the journal is there
   * unless the machine lost power.
   */
  crash({ powerLoss }: { readonly powerLoss: boolean }): void {
    const written = this.#store?.crash({ survives: this.#deps.chance.isTrue(0.5) });
    this.#store = undefined;
    if (written !== undefined) this.#deps.onWritten(written.batches, written.firstMails);
    if (!powerLoss) return;
    this.#noted.clear();
    this.#spends.losePower();
  }

  #write(thread: VirtualThread): Promise<void> {
    const { fate, later } = this.#deps;
    const { ms, isFull } = fate();
    return new Promise((resolve, reject) => {
      later(thread, ms, () => {
        if (isFull()) reject(storeFailed(SIMULATED_PATH, 'write', 'no space left on device'));
        else resolve();
      });
    });
  }
}

interface Noted {
  readonly run: number;
  readonly name: number;
  readonly by: SpentAmounts;
}

/** What the threads of simulated processes note of what they spend. It outlives processes, and not the loss of power. */
class SimulatedSpends implements SpendFiles {
  #noted: Noted[] = [];
  #boots = 1;

  open(_journal: string, { run }: Spender): ReturnType<SpendFiles['open']> {
    return {
      note: (_account, name, by) => this.#noted.push({ run, name, by }),
      close: () => undefined,
    };
  }

  read(_journal: string, wanted: number): Map<number, SpentAmounts> {
    const spent = new Map<number, SpentAmounts>();
    for (const { run, name, by } of this.#noted) {
      if (run !== wanted) continue;
      const { tokens, micros } = spent.get(name) ?? { tokens: 0, micros: 0 };
      spent.set(name, { tokens: tokens + by.tokens, micros: micros + by.micros });
    }
    return spent;
  }

  remove(): void {
    this.#noted = [];
  }

  boot(): string {
    return String(this.#boots);
  }

  losePower(): void {
    this.#noted = [];
    this.#boots += 1;
  }
}
