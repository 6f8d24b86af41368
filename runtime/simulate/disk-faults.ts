import type { z } from 'zod';
import type { Chance } from './chance.ts';
import type { FaultCounts, Faults } from './faults.ts';

/** What a write takes when nothing is wrong, milliseconds: a disk that has to be asked whether it has it. */
const WRITE_MS = [0.1, 4] as const;

/** How one write goes: how long it takes, and whether it then fails because the disk is full. */
export interface WriteFate {
  readonly ms: number;
  readonly isFull: () => boolean;
}

export interface DiskFaultsDeps {
  readonly chances: Readonly<Record<'slowDisk' | 'fullDisk' | 'disk', Chance>>;
  readonly faults: Pick<z.output<typeof Faults>, 'slowDisk' | 'fullDisk'>;
  readonly counts: FaultCounts;
  readonly nowMs: () => number;
  readonly note: (reason: string) => void;
}

/** What goes wrong with the disk that the journal is on. A process that is started again finds it as it is. */
export class DiskFaults {
  readonly #deps: DiskFaultsDeps;
  #fullUntilMs = 0;
  /** The next write takes so much longer. */
  #slowNextMs = 0;

  constructor(deps: DiskFaultsDeps) {
    this.#deps = deps;
  }

  /** Nothing is wrong with it any more. */
  mend(): void {
    this.#fullUntilMs = 0;
    this.#slowNextMs = 0;
  }

  slow(ms: number): void {
    this.#slowNextMs = Math.max(this.#slowNextMs, ms);
  }

  fill(ms: number): void {
    const { counts, note, nowMs } = this.#deps;
    counts.fullDisk += 1;
    note('the disk is full');
    this.#fullUntilMs = Math.max(this.#fullUntilMs, nowMs() + ms);
  }

  /** The journal writes; by chance something goes wrong if `mayGoWrong`. */
  write(mayGoWrong: boolean): WriteFate {
    const { chances, faults, counts, nowMs } = this.#deps;
    const { slowDisk, fullDisk } = faults;
    if (mayGoWrong && slowDisk !== undefined && chances.slowDisk.isTrue(slowDisk.probability))
      this.slow(chances.slowDisk.between(...slowDisk.ms));
    if (
      mayGoWrong &&
      fullDisk !== undefined &&
      counts.fullDisk < fullDisk.most &&
      chances.fullDisk.isTrue(fullDisk.probability)
    )
      this.fill(chances.fullDisk.between(...fullDisk.ms));
    const ms = chances.disk.between(...WRITE_MS) + this.#takeSlowness();
    return { ms, isFull: () => nowMs() < this.#fullUntilMs };
  }

  #takeSlowness(): number {
    const ms = this.#slowNextMs;
    if (ms === 0) return 0;
    this.#slowNextMs = 0;
    this.#deps.counts.slowDisk += 1;
    this.#deps.note('a write takes long');
    return ms;
  }
}
