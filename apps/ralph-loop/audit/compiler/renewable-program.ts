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
  #limit: number | undefined;

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
    const used = usedHeap();
    this.#limit ??= used + this.#budget.checker;
    if (used < this.#limit) return;
    await this.#memory.collect();
    // Half of it was garbage: worth going on.
    if (usedHeap() < this.#limit - this.#budget.checker / 2) return;
    this.#renew();
    await this.#memory.collect();
    this.#limit = usedHeap() + this.#budget.checker;
  }

  #renew(): void {
    const options: CreateProgramOptions = { ...this.#options, oldProgram: this.#program };
    this.#program = ts.createProgram(options);
    // A program keeps its options; with them it would keep its predecessor, and so all of them.
    delete options.oldProgram;
  }
}

const usedHeap = (): number => getHeapStatistics().used_heap_size;
