import type { Cost } from '../protocol/budget.ts';
import { budgetExceeded, mailboxFull, type OrreryError } from '../protocol/errors.ts';
import { AccountMemory, type Miscount, NOTHING, type NumberWord, WORD } from './account-memory.ts';
import { type Amounts, budgetOf, grantedAmounts } from './amounts.ts';
import type { FormerAccount, JournalledFunds } from '../mailbox/journalled-funds.ts';
import type { SpendNotes } from './spend-notes.ts';

const NOTHING_LEFT: Cost = { tokens: 0, costUsd: 0 };

const AMOUNTS = [
  ['tokens', WORD.tokens, WORD.spentTokens, WORD.grantedTokens],
  ['micros', WORD.micros, WORD.spentMicros, WORD.grantedMicros],
] as const;

/**
 * What the envelopes of a system may spend: a tree of accounts, as one thread sees it.
 *
 * An account without an amount of its own draws on the one above it, and with none above it is not limited. What an account
 * is opened with is taken out of those above; what is left when it closes goes back. It closes when whoever opened it has
 * let go of it and none below it is open.
 */
export class Accounts {
  readonly #memory: AccountMemory;
  readonly #incarnation: number;
  #notes: SpendNotes | undefined;

  constructor(memory: SharedArrayBuffer, incarnation: number) {
    this.#memory = new AccountMemory(memory);
    this.#incarnation = incarnation;
  }

  /** Which process this is, among all that have had the same journal; 0 without one. */
  get run(): number {
    return this.#memory.run;
  }

  /** How many are open. Counts them: for tests and overviews. */
  get size(): number {
    return this.#memory.size;
  }

  /**
   * Opens an account that has `own` for itself. Returns the refusal when the one above has not that much, or is over
   * (BUDGET_EXCEEDED), or no more can be open (MAILBOX_FULL).
   */
  open(above: number | undefined, own: Amounts): number | OrreryError {
    const memory = this.#memory;
    const account = memory.allocate(this.#incarnation);
    if (account === undefined) return mailboxFull('The book of open budgets', memory.capacity);
    const parent = above === undefined ? undefined : this.#withAmounts(above);
    if (parent !== undefined) {
      if (!memory.isHeld(above as number) || !memory.addBelow(parent))
        return this.#discard(account, own, NOTHING_LEFT);
      memory.write(account, WORD.above, parent);
      const left = this.#chargeOr(parent, own);
      if (left !== undefined) return this.#discard(account, own, left);
    }
    for (const [field, word, , granted] of AMOUNTS) {
      const amount = own[field];
      if (amount === undefined) continue;
      memory.write(account, word, amount);
      memory.write(account, granted, amount);
    }
    return account;
  }

  /** Has what is spent from now on noted where it outlives the process. */
  noteIn(notes: SpendNotes): void {
    this.#notes = notes;
  }

  /** What limits an account that is open, for a journal; undefined when nothing does. */
  fundsOf(account: number): JournalledFunds | undefined {
    const memory = this.#memory;
    const limits: FormerAccount[] = [];
    for (let at = account; at > 0; at = memory.read(at, WORD.above) ?? 0) {
      const tokens = amountIn(memory.read(at, WORD.grantedTokens));
      const micros = amountIn(memory.read(at, WORD.grantedMicros));
      if (tokens !== null || micros !== null) limits.push([memory.name(at), tokens, micros]);
    }
    return limits.length === 0 ? undefined : limits;
  }

  #discard(account: number, own: Amounts, left: Cost): OrreryError {
    this.close(account);
    return budgetExceeded(budgetOf(own), left);
  }

  /** Takes `amounts` out; returns the refusal when it has not that much, or is over. */
  spend(account: number, amounts: Amounts): OrreryError | undefined {
    const left = this.#memory.isHeld(account) ? this.#chargeOr(account, amounts) : NOTHING_LEFT;
    if (left !== undefined) return budgetExceeded(budgetOf(amounts), left);
    this.#note(account, amounts, 1);
    return undefined;
  }

  /** Puts back what was spent and not used. The caller checks that it was spent. */
  refund(account: number, amounts: Amounts): void {
    if (!this.#memory.isOpen(account)) return;
    for (const [field, word] of AMOUNTS) this.#give(account, word, amounts[field] ?? 0);
    this.#note(account, amounts, -1);
  }

  /** What is left to spend. An amount that is not limited is absent; of a closed account nothing is left. */
  left(account: number): Cost {
    if (!this.#memory.isOpen(account)) return NOTHING_LEFT;
    return budgetOf({
      tokens: this.#leftIn(account, WORD.tokens),
      micros: this.#leftIn(account, WORD.micros),
    });
  }

  /** What was spent on an account at the top, and on all below it. */
  spent(account: number): Required<Cost> {
    const tokens = this.#memory.read(account, WORD.spentTokens) ?? 0;
    const micros = this.#memory.read(account, WORD.spentMicros) ?? 0;
    return { tokens, costUsd: budgetOf({ micros }).costUsd ?? 0 };
  }

  /** Lets go of an account; again does no harm. Nothing more can be spent on it, but on those below it. */
  close(account: number): void {
    if (this.#memory.letGo(account)) this.#clear(account);
  }

  /** Whether something may still be spent on the account, or on one below it. */
  isOpen(account: number): boolean {
    return this.#memory.isOpen(account);
  }

  /** Whether its opener has not let go of it. */
  isHeld(account: number): boolean {
    return this.#memory.isHeld(account);
  }

  /** The accounts that a dead thread had opened and not let go of. */
  heldBy(incarnation: number): number[] {
    return [...this.#memory.heldBy(incarnation)];
  }

  /** Accounts in the course of being closed. They stay so only when the thread that closed them has ended. */
  closing(): number[] {
    return [...this.#memory.closing()];
  }

  /** Closes what is left of an account that a thread was closing when it ended. */
  finishClosing(account: number): void {
    this.#clear(account);
  }

  /** Accounts that count more below them than there are. They stay so only when a thread has ended. */
  miscounted(): Miscount[] {
    return this.#memory.miscounted();
  }

  /** Corrects such a count, unless it has changed since; the account may then close. */
  correct(miscount: Miscount): void {
    if (this.#memory.correct(miscount)) this.#clear(miscount.account);
  }

  #clear(account: number): void {
    const memory = this.#memory;
    const above = memory.read(account, WORD.above) ?? 0;
    for (const [, word] of AMOUNTS) {
      const rest = memory.empty(account, word);
      if (above > 0) this.#give(above, word, rest);
    }
    if (memory.free(account) && above > 0 && memory.dropBelow(above)) this.#clear(above);
  }

  /** The account itself, or the nearest above it that has an amount of its own; what is opened below draws on that. */
  #withAmounts(account: number): number {
    const memory = this.#memory;
    for (let at = account; ; ) {
      const above = memory.read(at, WORD.above) ?? 0;
      if (above === 0 || AMOUNTS.some(([, word]) => memory.read(at, word) !== NOTHING)) return at;
      at = above;
    }
  }

  /** Takes both amounts out; or neither, and says what is left, which is less. */
  #chargeOr(account: number, amounts: Amounts): Cost | undefined {
    for (;;) {
      if (this.#charge(account, amounts)) return undefined;
      if (!this.#memory.isOpen(account)) return NOTHING_LEFT;
      const left = this.left(account);
      // Some of it may have come back meanwhile.
      const { tokens = Infinity, micros = Infinity } = grantedAmounts(left);
      if (tokens < (amounts.tokens ?? 0) || micros < (amounts.micros ?? 0)) return left;
    }
  }

  /** Takes both amounts out, or neither. */
  #charge(account: number, { tokens = 0, micros = 0 }: Amounts): boolean {
    const memory = this.#memory;
    const tokenHolder = tokens > 0 ? this.#holderOf(account, WORD.tokens) : undefined;
    const microHolder = micros > 0 ? this.#holderOf(account, WORD.micros) : undefined;
    // While it is open, those above it are open too.
    if (!memory.isOpen(account)) return false;
    for (;;) {
      if (tokenHolder !== undefined && memory.isShort(tokenHolder, WORD.tokens, tokens)) return false;
      if (microHolder !== undefined && memory.isShort(microHolder, WORD.micros, micros)) return false;

      if (tokenHolder === undefined) {
        if (microHolder === undefined || memory.add(microHolder, WORD.micros, -micros)) return true;
        continue;
      }
      if (microHolder === undefined) {
        if (memory.add(tokenHolder, WORD.tokens, -tokens)) return true;
        continue;
      }
      // Between here and there others see too few tokens: they wait until it is certain.
      memory.flux(tokenHolder, 'begin');
      const hasTokens = memory.add(tokenHolder, WORD.tokens, -tokens);
      const hasBoth = hasTokens && memory.add(microHolder, WORD.micros, -micros);
      if (hasTokens && !hasBoth) {
        memory.add(tokenHolder, WORD.tokens, tokens);
        memory.flux(tokenHolder, 'taken back');
      }
      memory.flux(tokenHolder, 'end');
      if (hasBoth) return true;
    }
  }

  /** Adds to the nearest amount, if one limits the account. */
  #give(account: number, word: NumberWord, value: number): void {
    const holder = value > 0 ? this.#holderOf(account, word) : undefined;
    if (holder !== undefined) this.#memory.add(holder, word, value);
  }

  /** The account with the amount that limits this one: itself or one above; undefined when none does. */
  #holderOf(account: number, word: NumberWord): number | undefined {
    const memory = this.#memory;
    for (let at = account; at > 0; at = memory.read(at, WORD.above) ?? 0) {
      if (memory.read(at, word) !== NOTHING) return at;
    }
    return undefined;
  }

  #leftIn(account: number, word: NumberWord): number | undefined {
    const holder = this.#holderOf(account, word);
    return holder === undefined ? undefined : (this.#memory.read(holder, word) ?? 0);
  }

  /** Notes what was spent where an amount limits it. */
  #noteIn(notes: SpendNotes, account: number, { tokens = 0, micros = 0 }: Amounts, sign: 1 | -1): void {
    const memory = this.#memory;
    const isLimit = AMOUNTS.some(([, , , granted]) => amountIn(memory.read(account, granted)) !== null);
    if (isLimit) notes.note(account, memory.name(account), { tokens: sign * tokens, micros: sign * micros });
  }

  /** Adds to what is known of the account at the top, and to the notes of those on the way there. */
  #note(account: number, amounts: Amounts, sign: 1 | -1): void {
    const memory = this.#memory;
    let top = account;
    for (let at = account; at > 0; at = memory.read(at, WORD.above) ?? 0) {
      top = at;
      if (this.#notes !== undefined) this.#noteIn(this.#notes, at, amounts, sign);
    }
    for (const [field, , spent] of AMOUNTS) {
      const amount = amounts[field] ?? 0;
      if (amount > 0) memory.add(top, spent, sign * amount);
    }
  }
}

const amountIn = (value: number | undefined): number | null =>
  value === undefined || value === NOTHING ? null : value;
