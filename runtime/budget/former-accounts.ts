import { OrreryError } from '../protocol/errors.ts';
import { AccountMemory } from './account-memory.ts';
import { Accounts } from './accounts.ts';
import { type Amounts, grantedAmounts } from './amounts.ts';
import type { FormerAccount, JournalledFunds } from '../mailbox/journalled-funds.ts';
import type { SpentAmounts } from './spend-notes.ts';

/** Of these accounts those are forgotten, when there are as many, that are over. */
const MOST_KNOWN = 4_096;
/** No account of this number is ever open: nothing can be spent on it. */
export const OVER = 0;
/** The one above may be spent on between two looks at it. */
const TRIES = 16;
const NO_SEAT = -1;

export interface FormerAccountsDeps {
  readonly memory: SharedArrayBuffer;
  /** What was spent by now, in all processes, on the accounts of former ones; `Infinity` when that is not known. */
  readonly spent: () => (name: number) => SpentAmounts;
}

/**
 * Accounts for envelopes that former processes have left: what these could spend together they cannot exceed together.
 *
 * The accounts that limited them are opened again under their names, as long as an envelope below draws on them, with what
 * they were granted less all that was spent. What nobody knows any more counts as spent.
 */
export class FormerAccounts {
  readonly #deps: FormerAccountsDeps;
  readonly #memory: AccountMemory;
  readonly #accounts: Accounts;
  /** The accounts of this process by the names of former ones; some may be over. */
  readonly #known = new Map<number, number>();

  constructor(deps: FormerAccountsDeps) {
    this.#deps = deps;
    this.#memory = new AccountMemory(deps.memory);
    this.#accounts = new Accounts(deps.memory, NO_SEAT);
  }

  /** Opens an account for each of these envelopes, in the name of the thread of `incarnation`, which closes them. */
  open(all: readonly JournalledFunds[], incarnation: number): number[] {
    const held = new Map<number, number>();
    for (const [name] of all.flat()) this.#holdAgain(name, held);
    // On those that are not there any more nothing is spent from here on: what was is known now.
    const isComplete = all.every((funds) => funds.every(([name]) => held.has(name)));
    const spent = isComplete ? undefined : this.#deps.spent();
    const theirs = new Accounts(this.#deps.memory, incarnation);
    const opened = all.map((funds) => {
      let above: number | undefined;
      for (const former of funds.toReversed()) {
        above =
          held.get(former[0]) ?? this.#reopen(former, above, (spent as NonNullable<typeof spent>)(former[0]));
        held.set(former[0], above);
      }
      return above === OVER ? OVER : accountOr(theirs.open(above, {}));
    });
    for (const account of held.values()) if (account !== OVER) this.#accounts.close(account);
    this.#forgetOver();
    return opened;
  }

  #holdAgain(name: number, held: Map<number, number>): void {
    const account = held.has(name) ? undefined : this.#known.get(name);
    if (account !== undefined && this.#memory.hold(account)) held.set(name, account);
  }

  #reopen([name, tokens, micros]: FormerAccount, above: number | undefined, spent: SpentAmounts): number {
    if (above === OVER) return OVER;
    const left = { tokens: rest(tokens, spent.tokens), micros: rest(micros, spent.micros) };
    const account = this.#openWithin(above, left);
    if (account === OVER) return OVER;
    this.#memory.rename(account, name);
    this.#memory.grant(account, { tokens, micros });
    this.#known.set(name, account);
    return account;
  }

  /** The one above may have less by now than was set apart for this one. */
  #openWithin(above: number | undefined, wanted: Amounts): number {
    for (let tries = 0; tries < TRIES; tries++) {
      const account = this.#accounts.open(above, within(wanted, above, this.#accounts));
      if (!(account instanceof OrreryError)) return account;
      if (account.code !== 'BUDGET_EXCEEDED') return OVER;
    }
    return OVER;
  }

  #forgetOver(): void {
    if (this.#known.size < MOST_KNOWN) return;
    for (const [name, account] of this.#known) if (!this.#memory.isOpen(account)) this.#known.delete(name);
  }
}

const accountOr = (account: number | OrreryError): number =>
  account instanceof OrreryError ? OVER : account;

const rest = (granted: number | null, spent: number): number | undefined =>
  granted === null ? undefined : Math.max(0, granted - spent);

function within({ tokens, micros }: Amounts, above: number | undefined, accounts: Accounts): Amounts {
  if (above === undefined) return { tokens, micros };
  const most = grantedAmounts(accounts.left(above));
  return { tokens: smaller(tokens, most.tokens), micros: smaller(micros, most.micros) };
}

const smaller = (one: number | undefined, most: number | undefined): number | undefined =>
  one === undefined || most === undefined ? one : Math.min(one, most);
