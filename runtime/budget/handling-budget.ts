import type { Mail } from '../mailbox/mail.ts';
import { type Budget, Cost } from '../protocol/budget.ts';
import { invalidOptions } from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import type { Accounts } from './accounts.ts';
import { budgetOf, grantedAmounts, spentAmounts } from './amounts.ts';

/** The budget of one handling: what is left, and what the handling has spent itself. */
export class HandlingBudget {
  readonly #accounts: Accounts;
  readonly #mail: Mail | undefined;
  #tokens = 0;
  #micros = 0;

  constructor(accounts: Accounts, mail: Mail | undefined) {
    this.#accounts = accounts;
    this.#mail = mail;
  }

  get left(): Budget {
    const { account, budget } = this.#mail?.extras ?? {};
    const amounts = account === undefined ? {} : this.#accounts.left(account);
    return budget?.hops === undefined ? amounts : { ...amounts, hops: budget.hops };
  }

  /** Throws BUDGET_EXCEEDED, and then has taken nothing. */
  spend(cost: Cost): void {
    const amounts = spentAmounts(parseOptions(Cost, cost, 'cost'));
    const account = this.#mail?.extras?.account;
    const refusal = account === undefined ? undefined : this.#accounts.spend(account, amounts);
    if (refusal !== undefined) throw refusal;
    this.#tokens += amounts.tokens ?? 0;
    this.#micros += amounts.micros ?? 0;
  }

  refund(cost: Cost): void {
    // What is given back was taken by the whole millionth: so is this, and a part of one stays spent.
    const { tokens = 0, micros = 0 } = grantedAmounts(parseOptions(Cost, cost, 'cost'));
    if (tokens > this.#tokens) throw tooMuch('cost.tokens', tokens, this.#tokens);
    if (micros > this.#micros)
      throw tooMuch('cost.costUsd', cost.costUsd, budgetOf({ micros: this.#micros }).costUsd as number);
    this.#tokens -= tokens;
    this.#micros -= micros;
    const account = this.#mail?.extras?.account;
    if (account !== undefined) this.#accounts.refund(account, { tokens, micros });
  }
}

const tooMuch = (field: string, value: unknown, spent: number): Error =>
  invalidOptions(field, value, `at most the ${spent} that this handling has spent`);
