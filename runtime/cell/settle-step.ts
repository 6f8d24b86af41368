import type { Mail } from '../mailbox/mail.ts';
import type { Cell } from './cell.ts';

/** What one feature does when the outcome of an envelope is known. A thread has one of each kind that is in use. */
export interface SettleStep {
  /** `cell` had it; undefined where its recipient is not hosted here any more. */
  settle(mail: Mail, cell: Cell | undefined): void;
}
