import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { SpendNotes, SpentAmounts } from '../budget/spend-notes.ts';
import { bootId } from '../os/process-identity.ts';

/** One thread of one process that has a journal. `isOpen` says whether an account may still be spent on. */
export interface Spender {
  readonly run: number;
  readonly incarnation: number;
  readonly isOpen: (account: number) => boolean;
}

/** Where the threads of a system note what they spend; `journal` is the path of the journal's file. */
export interface SpendFiles {
  open(journal: string, spender: Spender): OpenNotes;
  /** What all threads of that process have noted, by the names of the accounts. */
  read(journal: string, run: number): Map<number, SpentAmounts>;
  /** Removes those of all processes. */
  remove(journal: string): void;
  /** Changes when the machine is started again: what was noted may be lost then. Undefined where nobody knows. */
  boot(): string | undefined;
}

export interface OpenNotes extends SpendNotes {
  close(): void;
}

/** As many accounts can be open; those of others are free when nobody asks for them any more. */
const ENTRIES = 65_536;
/** A power of two, so that none lies in two pages: a write is there whole, or not at all. */
const ENTRY_BYTES = 32;

interface Entry extends SpentAmounts {
  readonly index: number;
}

/**
 * What one thread has spent on each account, in a file beside the journal.
 *
 * The kernel has a sum when `note` returns: it outlives the process, however that ends, though not the loss
 * of power. The entries of accounts that are over are used again, the oldest first.
 */
export class SpendFile implements OpenNotes {
  readonly #descriptor: number;
  readonly #isOpen: (account: number) => boolean;
  readonly #bytes = Buffer.alloc(ENTRY_BYTES);
  readonly #entries = new Map<number, Entry>();
  /** The account of each entry. */
  readonly #owners: number[] = [];
  #next = 0;
  #isClosed = false;

  /** Fails as `fs` does. */
  constructor(path: string, isOpen: (account: number) => boolean) {
    this.#descriptor = openSync(path, 'w');
    this.#isOpen = isOpen;
  }

  note(account: number, name: number, { tokens, micros }: SpentAmounts): void {
    if (this.#isClosed) return;
    const before = this.#entries.get(account) ?? { index: this.#freeIndex(account), tokens: 0, micros: 0 };
    const entry = { index: before.index, tokens: before.tokens + tokens, micros: before.micros + micros };
    this.#entries.set(account, entry);
    this.#bytes.writeDoubleLE(name, 0);
    this.#bytes.writeDoubleLE(entry.tokens, 8);
    this.#bytes.writeDoubleLE(entry.micros, 16);
    writeSync(this.#descriptor, this.#bytes, 0, ENTRY_BYTES, entry.index * ENTRY_BYTES);
  }

  /** What is spent afterwards is spent by nobody who could go on. */
  close(): void {
    this.#isClosed = true;
    closeSync(this.#descriptor);
  }

  #freeIndex(account: number): number {
    for (;;) {
      const index = this.#next;
      this.#next = (index + 1) % ENTRIES;
      const owner = this.#owners[index];
      if (owner !== undefined && this.#isOpen(owner)) continue;
      if (owner !== undefined) this.#entries.delete(owner);
      this.#owners[index] = account;
      return index;
    }
  }
}

const SUFFIX = '-spent-';

const filesOf = (journal: string, run?: number): string[] =>
  readdirSync(dirname(journal))
    .filter((name) => name.startsWith(basename(journal) + SUFFIX + (run === undefined ? '' : `${run}-`)))
    .map((name) => join(dirname(journal), name));

function read(journal: string, run: number): Map<number, SpentAmounts> {
  const spent = new Map<number, SpentAmounts>();
  for (const file of filesOf(journal, run)) {
    const bytes = readFileSync(file);
    for (let at = 0; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES) {
      const name = bytes.readDoubleLE(at);
      const { tokens, micros } = spent.get(name) ?? { tokens: 0, micros: 0 };
      spent.set(name, {
        tokens: tokens + bytes.readDoubleLE(at + 8),
        micros: micros + bytes.readDoubleLE(at + 16),
      });
    }
  }
  return spent;
}

function remove(journal: string): void {
  for (const file of filesOf(journal)) rmSync(file, { force: true });
}

/** Notes as files, which is what a process that may be killed needs. */
export const spendFiles: SpendFiles = {
  open: (journal, { run, incarnation, isOpen }) =>
    new SpendFile(`${journal}${SUFFIX}${run}-${incarnation}`, isOpen),
  read,
  remove,
  boot: bootId,
};
