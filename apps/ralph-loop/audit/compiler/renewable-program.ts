import { getHeapStatistics } from 'node:v8';
import type { CreateProgramOptions, Program } from 'typescript';
import type { MemoryRelief } from '../memory-relief.ts';
import type { BoundedFiles } from './bounded-files.ts';
import { createProgram } from './create-program.ts';

export interface RenewableProgramDeps {
  readonly files: BoundedFiles;
  readonly memory: MemoryRelief;
  /** What the checker may add before it is replaced. */
  readonly checkerBytes: number;
}

/**
 * A program whose checker is replaced when it has grown.
 *
 * A checker never forgets a type that it has worked out: 800 KB of sources that lean on zod and xstate made it 200 MB.
 * A new program of the same, already parsed files costs little but the types worked out again.
 */
export class RenewableProgram {
  readonly #files: BoundedFiles;
  readonly #options: CreateProgramOptions;
  readonly #memory: MemoryRelief;
  readonly #checkerBytes: number;
  #program: Program;
  #limit: number | undefined;
  /** The least that was ever in use with a new checker. */
  #floor = Number.POSITIVE_INFINITY;

  constructor(options: CreateProgramOptions, { files, memory, checkerBytes }: RenewableProgramDeps) {
    this.#files = files;
    this.#options = options;
    this.#memory = memory;
    this.#checkerBytes = checkerBytes;
    this.#program = createProgram(files, options);
  }

  /** The program to ask now. Keep neither it nor its diagnostics across `relieve`: they hold its checker. */
  get current(): Program {
    return this.#program;
  }

  /** Replaces the program if its checker has grown. */
  async relieve(): Promise<void> {
    const used = usedHeap();
    this.#limit ??= this.#nextLimit(used);
    if (used < this.#limit) return;
    await this.#memory.collect();
    // Half of it was garbage: worth going on.
    if (usedHeap() < this.#limit - this.#checkerBytes / 2) return;
    this.#renew();
    await this.#memory.collect();
    this.#limit = this.#nextLimit(usedHeap());
  }

  /**
   * The old checker is not always collected at once, and must not count as what the new one needs: the heap would hold
   * two full ones in the end.
   */
  #nextLimit(used: number): number {
    this.#floor = Math.min(this.#floor, used);
    return Math.max(this.#floor + this.#checkerBytes, used + this.#checkerBytes / 4);
  }

  #renew(): void {
    const rootNames = this.#program.getRootFileNames();
    this.#program = createProgram(this.#files, { ...this.#options, rootNames, oldProgram: this.#program });
  }
}

const usedHeap = (): number => getHeapStatistics().used_heap_size;
