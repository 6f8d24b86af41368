import { type Mail, messageTypeOf } from '../mailbox/mail.ts';
import { type Budget, narrower } from '../protocol/budget.ts';
import { asksForWork } from '../protocol/envelope.ts';
import { noHopsLeft, OrreryError } from '../protocol/errors.ts';
import type { Accounts } from './accounts.ts';
import { grantedAmounts } from './amounts.ts';

/**
 * What a sender has to spend.
 *
 * - `account`   what is sent draws on it; undefined when nothing limits the amounts.
 * - `hops`      delegations left; undefined when they are not limited.
 * - `isHandler` the sender works on an envelope: what it asks for is a delegation.
 */
export interface Funds {
  readonly account: number | undefined;
  readonly hops: number | undefined;
  readonly isHandler: boolean;
}

/** What the envelope in hand allows its handler to spend on what it sends. */
export function fundsOf(mail: Mail | undefined): Funds | undefined {
  const extras = mail?.extras;
  if (extras?.budget === undefined) return undefined;
  return { account: extras.account, hops: extras.budget.hops, isHandler: true };
}

/**
 * Gives `mail` an account: with what is `wanted`, split off from that of its sender; without, one that draws on it. Returns
 * the refusal. The caller closes the account when the mail is not sent.
 */
export function fund(
  accounts: Accounts,
  mail: Mail,
  wanted: Budget | undefined,
  funds: Funds | undefined,
): OrreryError | undefined {
  const isDelegation = funds?.isHandler === true && asksForWork(messageTypeOf(mail));
  if (isDelegation && funds.hops === 0) return noHopsLeft(mail.sender);
  const above = funds?.hops === undefined ? undefined : { hops: funds.hops - (isDelegation ? 1 : 0) };
  const own = wanted === undefined ? {} : grantedAmounts(wanted);
  const isLimited = funds?.account !== undefined || own.tokens !== undefined || own.micros !== undefined;
  const account = isLimited ? accounts.open(funds?.account, own) : undefined;
  if (account instanceof OrreryError) return account;
  const hops = narrower(wanted?.hops === undefined ? undefined : { hops: wanted.hops }, above);
  const budget = { ...(account === undefined ? {} : accounts.left(account)), ...hops };
  mail.extras = account === undefined ? { ...mail.extras, budget } : { ...mail.extras, budget, account };
  return undefined;
}

/** One copy of a broadcast: it draws on the account of the original. */
export function fundCopy(accounts: Accounts, copy: Mail, { extras }: Mail): OrreryError | undefined {
  if (extras?.account === undefined) return undefined;
  const account = accounts.open(extras.account, {});
  if (account instanceof OrreryError) return account;
  copy.extras = { ...extras, account };
  return undefined;
}
