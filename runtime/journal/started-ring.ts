import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** More than may be started and not known to be settled by the journal. */
const ENTRIES = 65_536;
const ENTRY_BYTES = 8;

/**
 * Numbers of the mails that one thread has begun on, in a file beside the journal.
 *
 * An entry is in the hands of the kernel when `note` returns: it outlives the process, however that ends, though not the
 * loss of power. Old entries are overwritten; what they name is settled by then, and no number is ever given twice.
 */
export class StartedRing {
  readonly #descriptor: number;
  readonly #entry = Buffer.alloc(ENTRY_BYTES);
  #next = 0;

  /** `journal`: the path of the journal's file; `seat`: which thread this is. Fails as `fs` does. */
  constructor(journal: string, seat: number) {
    this.#descriptor = openSync(`${journal}${SUFFIX}${seat}`, 'w');
  }

  /** The handling of mail `number` begins. */
  note(number: number): void {
    this.#entry.writeDoubleLE(number);
    writeSync(this.#descriptor, this.#entry, 0, ENTRY_BYTES, this.#next * ENTRY_BYTES);
    this.#next = (this.#next + 1) % ENTRIES;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

const SUFFIX = '-started-';

const ringsOf = (journal: string): string[] =>
  readdirSync(dirname(journal))
    .filter((name) => name.startsWith(`${basename(journal)}${SUFFIX}`))
    .map((name) => join(dirname(journal), name));

/** The numbers in all rings beside a journal. An entry that was being written when the process ended may be missing. */
export function readStarted(journal: string): Set<number> {
  const started = new Set<number>();
  for (const file of ringsOf(journal)) {
    const bytes = readFileSync(file);
    for (let at = 0; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES) started.add(bytes.readDoubleLE(at));
  }
  started.delete(0);
  return started;
}

/** Removes all rings beside a journal: what they said is in the journal now. */
export function removeRings(journal: string): void {
  for (const file of ringsOf(journal)) rmSync(file, { force: true });
}
