import type { Accounts } from '../budget/accounts.ts';
import type { Funds } from '../budget/mail-account.ts';
import { type Behalf, behalfOf } from '../mailbox/behalf.ts';
import { asksForWork, type A2AMessageType, type PathHop } from '../protocol/envelope.ts';
import { OrreryError } from '../protocol/errors.ts';
import type { Taint } from '../protocol/taint.ts';
import type { Handling } from './handling.ts';

/**
 * What work in hand passes on to what is sent because of it, as far as it can be written down; on whose behalf included.
 *
 * - `path`         the requests and proposals above.
 * - `deadlineAtMs` Unix milliseconds; absent without one.
 * - `hops`         delegations left; absent when they are not limited.
 * - `isLimited`    tokens or money are limited.
 */
export interface DelegationRecord extends Behalf {
  readonly path: readonly PathHop[];
  readonly deadlineAtMs?: number | undefined;
  readonly hops?: number | undefined;
  readonly isLimited: boolean;
}

/**
 * What work in hand passes on, also after its end: what it may spend is held open until `end`.
 *
 * - `taint` where what is in the work came from outside.
 */
export interface Delegation extends DelegationRecord {
  readonly account: number | undefined;
  readonly taint: Taint | undefined;
  end(): void;
}

/** What the work passes on. Fails with BUDGET_EXCEEDED when its budget is over, MAILBOX_FULL when too many are open. */
export function delegationOf(accounts: Accounts, handling: Handling): Delegation {
  const { funds, childPath = [], deadlineAtMs, taint } = handling;
  const isLimited = funds?.account !== undefined;
  return {
    ...withAccount(accounts, isLimited ? opened(accounts.open(funds.account, {})) : undefined),
    ...behalfOf(handling.mail?.extras),
    path: childPath,
    isLimited,
    taint,
    ...(deadlineAtMs > 0 ? { deadlineAtMs } : {}),
    ...(funds?.hops === undefined ? {} : { hops: funds.hops }),
  };
}

/** What was written down of one in a former thread or process: of what was limited there nothing is left to spend. */
export const delegationAgain = (accounts: Accounts, record: DelegationRecord): Delegation => ({
  ...record,
  ...withAccount(
    accounts,
    record.isLimited ? opened(accounts.open(undefined, { tokens: 0, micros: 0 })) : undefined,
  ),
  taint: undefined,
});

/** What one message of this type may spend; an assignment is as much of a delegation as the proposal before it. */
export function fundsUnder({ account, hops }: Delegation, type: A2AMessageType): Funds | undefined {
  if (account === undefined && hops === undefined) return undefined;
  const isCounted = asksForWork(type) || hops === undefined;
  return { account, hops: isCounted ? hops : Math.max(0, hops - 1), isHandler: true };
}

const withAccount = (accounts: Accounts, account: number | undefined) => ({
  account,
  end: () => {
    if (account !== undefined) accounts.close(account);
  },
});

function opened(account: number | OrreryError): number {
  if (account instanceof OrreryError) throw account;
  return account;
}
