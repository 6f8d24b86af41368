import { getHeapStatistics } from 'node:v8';
import type { CreateProgramOptions, Program } from 'typescript';
import type { MemoryRelief } from '../memory-relief.ts';
import { ts } from './typescript.ts';

/** What the checker may add to the files' own size. Less makes it work the same types out again more often. */
const CHECKER_BYTES = 64 * 1024 * 1024;

/**
 * A program whose checker is replaced when it has grown.
 *
 * A checker never forgets a type that it has worked out: 800 KB of sources that lean on zod and xstate made it 200 MB.
 * A new program of the same, already parsed files costs little but the types worked out again.
 */
export class RenewableProgram {
  readonly #options: CreateProgramOptions;
  readonly #memory: MemoryRelief;
  #program: Program;
  #limit = 0;

  constructor(options: CreateProgramOptions, memory: MemoryRelief) {
    this.#options = options;
    this.#memory = memory;
    this.#program = ts.createProgram(options);
  }

  /** The program to ask next. Diagnostics of the one before must not be held on to: they hold its checker. */
  async ready(): Promise<Program> {
    if (this.#limit === 0) this.#limit = (await this.#used()) + CHECKER_BYTES;
    else if (getHeapStatistics().used_heap_size > this.#limit && (await this.#used()) > this.#limit) {
      this.#program = ts.createProgram({ ...this.#options, oldProgram: this.#program });
      await this.#memory.collect();
    }
    return this.#program;
  }

  /** What is really in use. */
  async #used(): Promise<number> {
    await this.#memory.collect();
    return getHeapStatistics().used_heap_size;
  }
}
