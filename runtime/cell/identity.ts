import type { Funds } from '../budget/mail-account.ts';
import type { Party } from '../protocol/policy.ts';

/** In whose name something is sent. `slot` is -1 for those who have no mailbox, such as `system/host`. */
export interface Identity {
  readonly id: string;
  readonly slot: number;
  readonly party: Party;
  /** What is sent by it of its own accord draws on this. @default not limited */
  readonly funds?: Funds;
}
