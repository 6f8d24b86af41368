import type { Sender } from '../agent/context.ts';
import type { Identity } from '../cell/mail-maker.ts';
import type { Accounts } from '../budget/accounts.ts';
import { grantedAmounts } from '../budget/amounts.ts';
import { Budget, type Cost } from '../protocol/budget.ts';
import { OrreryError } from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import { type EmbedderSenderDeps, embedderSender } from './embedder-sender.ts';

/**
 * One budget for many envelopes, such as those of a mission: everything that is sent by it, and all that this causes,
 * spends from it.
 */
export interface Account extends Sender, Disposable {
  /** What can be spent or granted now; what is absent is not limited. What is granted to envelopes is not in it. */
  readonly left: Budget;
  /** What was spent on it, by whomever. Once it is closed: by then. */
  readonly spent: Required<Cost>;
  /** Sends nothing any more. What is under way goes on with what there is. */
  close(): void;
}

/** Opens an account; throws INVALID_OPTIONS, or MAILBOX_FULL when no more can be open. */
export function openAccount(
  accounts: Accounts,
  budget: Budget,
  deps: EmbedderSenderDeps,
  identity: Identity,
): Account {
  const { hops, ...amounts } = parseOptions(Budget, budget, 'budget');
  const account = accounts.open(undefined, grantedAmounts(amounts));
  if (account instanceof OrreryError) throw account;
  const sender = embedderSender(deps, { ...identity, funds: { account, hops, isHandler: false } });
  const read = () => ({ left: accounts.left(account), spent: accounts.spent(account) });
  let last: ReturnType<typeof read> | undefined;
  const close = (): void => {
    last ??= read();
    accounts.close(account);
  };
  return {
    ...sender,
    get left() {
      const { left } = last ?? read();
      return hops === undefined ? left : { ...left, hops };
    },
    get spent() {
      return (last ?? read()).spent;
    },
    close,
    [Symbol.dispose]: close,
  };
}
