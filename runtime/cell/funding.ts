import type { Accounts } from '../budget/accounts.ts';
import { type Funds, fund } from '../budget/mail-account.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { Budget, Cost } from '../protocol/budget.ts';
import { BROADCAST } from '../protocol/envelope.ts';
import type { OrreryError } from '../protocol/errors.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';
import { callOutside } from '../agent/call-outside.ts';
import type { Handling } from './handling.ts';
import type { Identity } from './mail-maker.ts';

/** Gives what is sent from one thread the accounts that it is to have, and closes those of what was not sent. */
export class Funding {
  readonly #accounts: Accounts;

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  /** Returns why `mail` cannot have what is `wanted` for it. What nobody limits has no account, and costs nothing here. */
  give(
    mail: Mail,
    wanted: Budget | undefined,
    from: Identity,
    parent: Handling | undefined,
    funds: Funds | undefined = parent?.funds ?? from.funds,
  ): OrreryError | undefined {
    if (wanted === undefined && funds === undefined) return undefined;
    return fund(this.#accounts, mail, wanted, funds);
  }

  /** Of a broadcast the copies were sent, which have accounts of their own. */
  closeUnlessSent(mail: Mail, result: RoutingResult): RoutingResult {
    if (!result.delivered || mail.recipient === BROADCAST) this.close(mail);
    return result;
  }

  /** `onSpent` is told what was spent of it, where none is above it. */
  close({ extras }: Mail, onSpent?: (spent: Required<Cost>) => void): void {
    if (extras?.account === undefined) return;
    if (onSpent !== undefined) callOutside(onSpent, this.#accounts.spent(extras.account));
    this.#accounts.close(extras.account);
  }
}
