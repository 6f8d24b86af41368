import type { SpentAmounts } from '../budget/spend-notes.ts';
import type { SpendFiles, Spender } from '../journal/spend-file.ts';

interface Noted {
  readonly run: number;
  readonly name: number;
  readonly by: SpentAmounts;
}

/** What the threads of simulated processes note of what they spend. It outlives processes, and not the loss of power. */
export class SimulatedSpends implements SpendFiles {
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
