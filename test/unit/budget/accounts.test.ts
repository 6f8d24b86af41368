import { describe, expect, it } from 'vitest';
import {
  AccountMemory,
  type Miscount,
  newAccountMemory,
  WORD,
} from '../../../runtime/budget/account-memory.ts';
import { Accounts } from '../../../runtime/budget/accounts.ts';
import type { Amounts } from '../../../runtime/budget/amounts.ts';
import { OrreryError } from '../../../runtime/protocol/errors.ts';

function accountsOf(capacity = 16) {
  const memory = newAccountMemory(capacity);
  const accounts = new Accounts(memory, 1);
  const open = (above: number | undefined, own: Amounts): number => {
    const account = accounts.open(above, own);
    if (account instanceof OrreryError) throw account;
    return account;
  };
  return { memory, accounts, open };
}

const codeOf = (result: unknown): unknown => (result instanceof OrreryError ? result.code : result);

describe('An account', () => {
  it('gives out what it has and no more, both amounts or neither', () => {
    const { accounts, open } = accountsOf();
    const account = open(undefined, { tokens: 10, micros: 100 });
    expect(accounts.spend(account, { tokens: 4, micros: 40 })).toBeUndefined();
    expect(codeOf(accounts.spend(account, { tokens: 7, micros: 1 }))).toBe('BUDGET_EXCEEDED');
    expect(codeOf(accounts.spend(account, { tokens: 1, micros: 61 }))).toBe('BUDGET_EXCEEDED');
    expect(accounts.left(account)).toEqual({ tokens: 6, costUsd: 0.00006 });
    expect(accounts.spend(account, { tokens: 6, micros: 60 })).toBeUndefined();
    expect(accounts.left(account)).toEqual({ tokens: 0, costUsd: 0 });
    expect(accounts.spent(account)).toEqual({ tokens: 10, costUsd: 0.0001 });
  });

  it('says what was asked of it and what it has', () => {
    const { accounts, open } = accountsOf();
    const account = open(undefined, { tokens: 10 });
    const refusal = accounts.spend(account, { tokens: 11, micros: 5 });
    expect(refusal?.message).toBe('The budget has 10 tokens left, asked for: 11 tokens and 0.000005 USD');
    expect(refusal?.details).toEqual({ asked: { tokens: 11, costUsd: 0.000005 }, left: { tokens: 10 } });
  });

  it('does not limit an amount that it was not opened with', () => {
    const { accounts, open } = accountsOf();
    const account = open(undefined, { tokens: 10 });
    expect(accounts.spend(account, { micros: 1e14 })).toBeUndefined();
    expect(accounts.left(account)).toEqual({ tokens: 10 });
    expect(accounts.spent(account)).toEqual({ tokens: 0, costUsd: 1e8 });
  });

  it('takes back what was not used', () => {
    const { accounts, open } = accountsOf();
    const account = open(undefined, { tokens: 10, micros: 10 });
    accounts.spend(account, { tokens: 8, micros: 8 });
    accounts.refund(account, { tokens: 3 });
    expect(accounts.left(account)).toEqual({ tokens: 5, costUsd: 0.000002 });
    expect(accounts.spent(account)).toEqual({ tokens: 5, costUsd: 0.000008 });
  });
});

describe('An account below another', () => {
  it('draws on it, without an amount of its own', () => {
    const { accounts, open } = accountsOf();
    const above = open(undefined, { tokens: 10 });
    const below = open(above, {});
    expect(accounts.spend(below, { tokens: 7 })).toBeUndefined();
    expect(accounts.left(above)).toEqual({ tokens: 3 });
    expect(codeOf(accounts.spend(open(below, {}), { tokens: 4 }))).toBe('BUDGET_EXCEEDED');
  });

  it('has its own amount for itself, and gives back what is left of it', () => {
    const { accounts, open } = accountsOf();
    const above = open(undefined, { tokens: 10 });
    const below = open(above, { tokens: 6 });
    expect(accounts.left(above)).toEqual({ tokens: 4 });
    accounts.spend(below, { tokens: 5 });
    expect(codeOf(accounts.spend(below, { tokens: 2 }))).toBe('BUDGET_EXCEEDED');
    accounts.close(below);
    expect(accounts.left(above)).toEqual({ tokens: 5 });
    expect(accounts.spent(above)).toEqual({ tokens: 5, costUsd: 0 });
  });

  it('draws on the other amount, where it has only one of its own', () => {
    const { accounts, open } = accountsOf();
    const above = open(undefined, { tokens: 10, micros: 10 });
    const below = open(above, { tokens: 6 });
    expect(accounts.spend(below, { tokens: 6, micros: 9 })).toBeUndefined();
    expect(accounts.left(above)).toEqual({ tokens: 4, costUsd: 0.000001 });
    expect(codeOf(accounts.spend(below, { micros: 2 }))).toBe('BUDGET_EXCEEDED');
  });

  it('is refused when that has less, and nothing is taken', () => {
    const { accounts, open } = accountsOf();
    const above = open(undefined, { tokens: 10, micros: 10 });
    expect(codeOf(accounts.open(above, { tokens: 11 }))).toBe('BUDGET_EXCEEDED');
    expect(codeOf(accounts.open(above, { tokens: 10, micros: 11 }))).toBe('BUDGET_EXCEEDED');
    expect(accounts.left(above)).toEqual({ tokens: 10, costUsd: 0.00001 });
    expect(accounts.size).toBe(1);
  });

  it('keeps it open; what is left goes up through it when the last one closes', () => {
    const { accounts, open } = accountsOf();
    const top = open(undefined, { tokens: 10 });
    const middle = open(top, { tokens: 8 });
    const below = open(middle, { tokens: 5 });
    accounts.close(middle);
    expect(codeOf(accounts.spend(middle, { tokens: 1 }))).toBe('BUDGET_EXCEEDED');
    expect(codeOf(accounts.open(middle, {}))).toBe('BUDGET_EXCEEDED');
    accounts.spend(below, { tokens: 1 });
    expect(accounts.left(top)).toEqual({ tokens: 2 });
    accounts.close(below);
    expect(accounts.left(top)).toEqual({ tokens: 9 });
    expect(accounts.size).toBe(1);
  });

  it('draws on the one with the amount, however many without one were between: those close when they are let go of', () => {
    const { accounts, open } = accountsOf();
    const top = open(undefined, { tokens: 10 });
    let last = open(top, {});
    for (let at = 0; at < 100; at++) {
      const next = open(last, {});
      accounts.close(last);
      last = next;
    }
    expect(accounts.size).toBe(2);
    expect(accounts.spend(last, { tokens: 10 })).toBeUndefined();
    expect(accounts.left(top)).toEqual({ tokens: 0 });
  });
});

describe('An account that is closed', () => {
  it('is closed once, however often it is said, and whoever has its slot next is not touched', () => {
    const { accounts, open } = accountsOf(1);
    const first = open(undefined, { tokens: 10 });
    accounts.close(first);
    const second = open(undefined, { tokens: 7 });
    accounts.close(first);
    expect(codeOf(accounts.spend(first, { tokens: 1 }))).toBe('BUDGET_EXCEEDED');
    accounts.refund(first, { tokens: 1 });
    expect(accounts.left(second)).toEqual({ tokens: 7 });
    expect(accounts.left(first)).toEqual({ tokens: 0, costUsd: 0 });
    expect(accounts.spend(second, { tokens: 7 })).toBeUndefined();
  });

  it('gives its slot to another, also after more turns than generations can count', () => {
    const { accounts, open } = accountsOf(1);
    for (let turn = 0; turn < 70_000; turn++) accounts.close(open(undefined, {}));
    const account = open(undefined, { tokens: 1 });
    expect(accounts.left(account)).toEqual({ tokens: 1 });
  });

  it('leaves nothing behind when all slots are taken', () => {
    const { accounts, open } = accountsOf(2);
    const top = open(undefined, { tokens: 10 });
    open(top, { tokens: 3 });
    const refusal = accounts.open(top, { tokens: 1 });
    expect(codeOf(refusal)).toBe('MAILBOX_FULL');
    expect((refusal as OrreryError).details).toEqual({ holder: 'The book of open budgets', capacity: 2 });
    expect(accounts.left(top)).toEqual({ tokens: 7 });
  });
});

describe('The words of an account', () => {
  it('answer nobody whose turn is over', () => {
    const { accounts, memory, open } = accountsOf(1);
    const words = new AccountMemory(memory);
    const first = open(undefined, { tokens: 10 });
    accounts.close(first);
    const second = open(undefined, { tokens: 7 });
    expect(words.read(first, WORD.tokens)).toBeUndefined();
    expect(words.add(first, WORD.tokens, -1)).toBe(false);
    expect(words.empty(first, WORD.tokens)).toBe(0);
    expect(words.addBelow(first)).toBe(false);
    expect(words.dropBelow(first)).toBe(false);
    expect(words.letGo(first)).toBe(false);
    expect(words.free(first)).toBe(false);
    expect(words.free(second)).toBe(false);
    expect(accounts.left(second)).toEqual({ tokens: 7 });
    expect(accounts.size).toBe(1);
  });

  it('never fall below nothing', () => {
    const { memory, open } = accountsOf();
    const words = new AccountMemory(memory);
    const account = open(undefined, { tokens: 3 });
    expect(words.add(account, WORD.tokens, -4)).toBe(false);
    expect(words.add(account, WORD.tokens, -3)).toBe(true);
    expect(words.add(account, WORD.micros, 1)).toBe(false);
  });
});

describe('The death of a thread', () => {
  it('leaves a list of what that thread had opened and nobody has let go of', () => {
    const { accounts, memory, open } = accountsOf();
    const dead = new Accounts(memory, 2);
    const top = open(undefined, { tokens: 10 });
    const [one, other] = [dead.open(top, { tokens: 3 }), dead.open(top, {})] as [number, number];
    accounts.close(other);
    expect(accounts.heldBy(2)).toEqual([one]);
    accounts.close(one);
    expect(accounts.heldBy(2)).toEqual([]);
    expect(accounts.left(top)).toEqual({ tokens: 10 });
  });

  it('in the middle of closing an account leaves that to be finished, once', () => {
    const { accounts, memory, open } = accountsOf();
    const top = open(undefined, { tokens: 10 });
    const below = open(top, { tokens: 4 });
    const words = new AccountMemory(memory);
    expect(words.letGo(below)).toBe(true);
    expect(accounts.closing()).toEqual([below]);
    accounts.finishClosing(below);
    accounts.finishClosing(below);
    expect(accounts.left(top)).toEqual({ tokens: 10 });
    expect(accounts.closing()).toEqual([]);
    accounts.close(top);
    expect(accounts.size).toBe(0);
  });

  it('in the middle of opening an account leaves the one above with a count that is corrected, if it stands still', () => {
    const { accounts, memory, open } = accountsOf();
    const top = open(undefined, { tokens: 10 });
    const below = open(top, { tokens: 4 });
    new AccountMemory(memory).addBelow(top);
    const [miscount] = accounts.miscounted();
    expect(miscount).toMatchObject({ account: top, excess: 1 });
    accounts.close(below);
    accounts.correct(miscount as Miscount);
    expect(accounts.miscounted()).toHaveLength(1);
    accounts.close(top);
    const again = accounts.miscounted();
    expect(again).toMatchObject([{ account: top, excess: 1 }]);
    for (const one of [...again, ...again]) accounts.correct(one);
    expect(accounts.size).toBe(0);
  });

  it('between two amounts takes at most the first one along, and stops nobody', () => {
    const { accounts, memory, open } = accountsOf();
    const account = open(undefined, { tokens: 10, micros: 10 });
    const words = new AccountMemory(memory);
    words.flux(account, 'begin');
    words.add(account, WORD.tokens, -4);
    expect(codeOf(accounts.spend(account, { tokens: 7, micros: 1 }))).toBe('BUDGET_EXCEEDED');
    expect(accounts.spend(account, { tokens: 6, micros: 10 })).toBeUndefined();
  });
});
