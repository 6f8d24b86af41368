import { isOrreryError, refused } from '../../runtime/protocol/errors.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import { type Amount, amountIn, amountOf, costOf, type Prices, type Tokens } from './prices.ts';

const NOTHING: Amount = { tokens: 0, micros: 0 };

/**
 * Pays for the calls of one handling out of its budget. Before a call it takes what that may cost, afterwards it gives back
 * what was not used. What a last call needs is reserved, so that nobody else on the same account can take it.
 */
export class CallBudget {
  readonly #ctx: HandlingContext<never>;
  readonly #prices: Prices | undefined;
  #held: Amount = NOTHING;

  /** Throws REFUSED when dollars are limited, and nobody has said what the model costs. */
  constructor(ctx: HandlingContext<never>, prices: Prices | undefined) {
    this.#ctx = ctx;
    this.#prices = prices;
    if (prices === undefined && ctx.budget.costUsd !== undefined)
      throw refused(
        `The budget limits dollars, and ${ctx.self} has no prices: with prices of 0 its model costs nothing`,
        { agentId: ctx.self },
      );
  }

  amountOf(tokens: Tokens): Amount {
    return amountOf(tokens, this.#prices);
  }

  /** Whether all of these can be paid, from the budget and what is reserved. */
  canPay(...all: readonly Tokens[]): boolean {
    const left = amountIn(this.#ctx.budget);
    const wanted = all.map((tokens) => this.amountOf(tokens));
    const sum = (field: keyof Amount): number => wanted.reduce((so, one) => so + one[field], 0);
    return (
      sum('tokens') <= left.tokens + this.#held.tokens && sum('micros') <= left.micros + this.#held.micros
    );
  }

  /** Reserves this much, instead of what was reserved before. Throws BUDGET_EXCEEDED, and then has changed nothing. */
  reserve(tokens: Tokens | undefined): void {
    const next = tokens === undefined ? NOTHING : this.amountOf(tokens);
    this.#change(this.#held, next);
    this.#held = next;
  }

  /** Takes what a call may cost. `fromHeld`: out of what is reserved. Throws BUDGET_EXCEEDED, and then has changed nothing. */
  take(tokens: Tokens, fromHeld = false): Amount {
    const amount = this.amountOf(tokens);
    this.#change(fromHeld ? this.#held : NOTHING, amount);
    if (fromHeld) this.#held = NOTHING;
    return amount;
  }

  /** Gives back what was taken and not used. What was used beyond that is spent too, as far as there is any. */
  reconcile(taken: Amount, used: Amount): void {
    const rest = minus(taken, used);
    if (rest.tokens > 0 || rest.micros > 0) this.#ctx.refund(costOf(rest));
    this.#spendUpTo(minus(used, taken));
  }

  /** From one amount spent to another. */
  #change(from: Amount, to: Amount): void {
    const more = minus(to, from);
    if (more.tokens > 0 || more.micros > 0) this.#ctx.spend(costOf(more));
    const rest = minus(from, to);
    if (rest.tokens > 0 || rest.micros > 0) this.#ctx.refund(costOf(rest));
  }

  /**
   * Spends as much as there is, the rest out of what is reserved. Others draw on the account meanwhile: what was left a
   * moment ago may be less now.
   */
  #spendUpTo(amount: Amount): void {
    let wanted = amount;
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      try {
        if (wanted.tokens > 0 || wanted.micros > 0) this.#ctx.spend(costOf(wanted));
        this.#held = minus(this.#held, minus(amount, wanted));
        return;
      } catch (error) {
        // Whose work is over has no account any more.
        if (!isOrreryError(error) || error.code !== 'BUDGET_EXCEEDED') return;
        const left = amountIn(this.#ctx.budget);
        wanted = {
          tokens: Math.min(wanted.tokens, left.tokens),
          micros: Math.min(wanted.micros, left.micros),
        };
      }
    }
  }
}

const MOST_ATTEMPTS = 8;

/** What of an amount is more than another. */
const minus = (one: Amount, other: Amount): Amount => ({
  tokens: Math.max(0, one.tokens - other.tokens),
  micros: Math.max(0, one.micros - other.micros),
});
