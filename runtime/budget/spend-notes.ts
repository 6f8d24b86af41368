import type { Amounts } from './amounts.ts';

/** What one thread says of what is spent in it. */
export interface SpendNotes {
  /** So much is spent on an account, or was given back if negative. It outlives the process from when this returns. */
  note(account: number, name: number, by: Required<SpentAmounts>): void;
}

/** What was spent on an account and those below it, whole numbers. */
export type SpentAmounts = { readonly [Amount in keyof Amounts]-?: number };
