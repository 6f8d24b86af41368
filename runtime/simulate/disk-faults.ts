import type { z } from 'zod';
import type { Chance } from './chance.ts';
import type { FaultCounts, Faults } from './faults.ts';

/** The time of a write without a fault, milliseconds: that of a disk with syncs. */
const WRITE_MS = [0.1, 4] as const;

/** The fate of one write: its time, and whether the disk is full then, so that it fails. */
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

/** Faults of the journal's disk. They last when the process is started again. */
export class DiskFaults {
  readonly #deps: DiskFaultsDeps;
  #fullUntilMs = 0;
  /** Milliseconds to add to the next write. */
  #slowNextMs = 0;

  constructor(deps: DiskFaultsDeps) {
    this.#deps = deps;
  }

  /** Ends all faults. */
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

  /** Decides the fate of a write; new faults occur only if `mayGoWrong`. */
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
