import type { Check } from './check.ts';
import { LedgerCheck, type Totals } from './ledger-check.ts';

/** The ledgers of all lives of a process, each of which adds up by itself. */
export class ProcessLedgers implements Check {
  readonly #all: LedgerCheck[] = [];

  /** A ledger for a process that begins. */
  open(): LedgerCheck {
    const ledger = new LedgerCheck();
    this.#all.push(ledger);
    return ledger;
  }

  /** What all lives add up to; what was in flight when a process was killed has no outcome among these. */
  get totals(): Totals {
    const sum = { accepted: 0, handled: 0, rejected: 0, expired: 0, deadLettered: 0 };
    for (const { totals } of this.#all)
      for (const count of Object.keys(sum) as (keyof Totals)[]) sum[count] += totals[count];
    return sum;
  }

  get begun(): number {
    return this.#all.reduce((sum, { begun }) => sum + begun, 0);
  }

  get violations(): readonly string[] {
    return this.#all.flatMap(({ violations }) => violations);
  }

  check(): void {
    this.#all.at(-1)?.check();
  }

  checkSettled(): void {
    this.#all.at(-1)?.checkSettled();
  }
}
