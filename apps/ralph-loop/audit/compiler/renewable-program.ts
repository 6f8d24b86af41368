import { getHeapStatistics } from 'node:v8';
import type { CreateProgramOptions, Program } from 'typescript';
import type { MemoryRelief } from '../memory-relief.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { ts } from './typescript.ts';

/**
 * A program whose checker is replaced when it has grown.
 *
 * A checker never forgets a type that it has worked out: 800 KB of sources that lean on zod and xstate made it 200 MB.
 * A new program of the same, already parsed files costs little but the types worked out again.
 */
export class RenewableProgram {
  readonly #options: CreateProgramOptions;
  readonly #memory: MemoryRelief;
  readonly #budget: MemoryBudget;
  #program: Program;
  #limit = 0;

  constructor(options: CreateProgramOptions, memory: MemoryRelief, budget: MemoryBudget) {
    this.#options = options;
    this.#budget = budget;
    this.#memory = memory;
    this.#program = ts.createProgram(options);
  }

  /** The program to ask now. Keep neither it nor its diagnostics across `relieve`: they hold its checker. */
  get current(): Program {
    return this.#program;
  }

  /** Replaces the program if its checker has grown. */
  async relieve(): Promise<void> {
    if (this.#limit === 0) this.#limit = (await this.#usedAtFirst()) + this.#budget.checker;
    if (getHeapStatistics().used_heap_size < this.#limit + this.#budget.garbage) return;
    if ((await this.#used()) < this.#limit) return;
    this.#renew();
    await this.#memory.collect();
  }

  #renew(): void {
    const options: CreateProgramOptions = { ...this.#options, oldProgram: this.#program };
    this.#program = ts.createProgram(options);
    // A program keeps its options; with them it would keep its predecessor, and so all of them.
    delete options.oldProgram;
  }

  /** What files and symbols take: the first question makes the checker bind them. */
  async #usedAtFirst(): Promise<number> {
    this.#program.getGlobalDiagnostics();
    return this.#used();
  }

  /** What is really in use. */
  async #used(): Promise<number> {
    await this.#memory.collect();
    return getHeapStatistics().used_heap_size;
  }
}
