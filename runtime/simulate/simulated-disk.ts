import { MemoryMedium, MemoryStore } from '../journal/memory-store.ts';
import type { StartedRings } from '../journal/started-ring.ts';
import { storeFailed } from '../protocol/errors.ts';
import type { Store, StoreBatch } from '../protocol/store.ts';
import type { Chance } from './chance.ts';
import type { WriteFate } from './disk-faults.ts';
import type { VirtualThread } from './virtual-thread.ts';
import type { SpentAmounts } from '../budget/spend-notes.ts';
import type { SpendFiles, Spender } from '../journal/spend-file.ts';

/** The path of the journal in a simulation. */
export const SIMULATED_PATH = 'simulated';

export interface SimulatedDiskDeps {
  /** Decides the fate of a write that begins now. */
  readonly fate: () => WriteFate;
  /** Calls `run` in a thread after `ms` virtual milliseconds. */
  readonly later: (thread: VirtualThread, ms: number, run: () => void) => void;
  readonly chance: Chance;
  /** Called with units that were written. `firstMails` has the number of the first mail of each. */
  readonly onWritten: (batches: readonly StoreBatch[], firstMails: readonly number[]) => void;
}

/** The disk of a simulated machine: a journal, and the files of threads beside it. It outlives the process. */
export class SimulatedDisk {
  readonly rings: StartedRings;
  readonly #deps: SimulatedDiskDeps;
  readonly #medium = new MemoryMedium();
  /** The numbers that each thread has noted as begun. */
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

  /** The envelopes in the journal without an outcome. */
  get mails(): MemoryMedium['mails'] {
    return this.#medium.mails;
  }

  /** Opens the journal's store in its thread. */
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
   * Called when the process ends. A write under way is complete or absent. Notes of threads are lost only by a loss of power.
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

/** Notes of amounts spent. They outlive processes, but not a loss of power. */
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
