import type { Accounts } from '../budget/accounts.ts';
import { fund } from '../budget/mail-account.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import type { OrreryError } from '../protocol/errors.ts';
import { callOutside } from '../agent/call-outside.ts';
import type { Send, SendStep } from './send-step.ts';
import type { SettleStep } from './settle-step.ts';

/**
 * Gives what is sent from one thread the accounts that it is to have. Closes those of what nobody has, and of what is
 * settled here.
 */
export class Funding implements SendStep, SettleStep {
  readonly #accounts: Accounts;

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  /** What nobody limits has no account. */
  concerns({ budget, funds }: Send): boolean {
    return budget !== undefined || funds !== undefined;
  }

  begin({ mail, budget, funds }: Send): OrreryError | undefined {
    return fund(this.#accounts, mail, budget, funds);
  }

  /** Of a broadcast the copies were sent, which have accounts of their own. */
  end({ mail, onSpent }: Send, row: AgentRow | undefined): void {
    const account = mail.extras?.account;
    if (row !== undefined || account === undefined) return;
    if (onSpent !== undefined) callOutside(onSpent, this.#accounts.spent(account));
    this.#accounts.close(account);
  }

  /** Nothing is spent on it any more. The account stays open for what it caused and still goes on. */
  settle({ extras }: Mail): void {
    if (extras?.account !== undefined) this.#accounts.close(extras.account);
  }
}
