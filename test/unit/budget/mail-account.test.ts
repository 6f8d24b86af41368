import { describe, expect, it } from 'vitest';
import { newAccountMemory } from '../../../runtime/budget/account-memory.ts';
import { Accounts } from '../../../runtime/budget/accounts.ts';
import { fund, fundCopy, fundsOf } from '../../../runtime/budget/mail-account.ts';
import { HandlingBudget } from '../../../runtime/budget/handling-budget.ts';
import { copyOf, fromEnvelope, Mail, NO_ASK, toEnvelope, typeIndex } from '../../../runtime/mailbox/mail.ts';
import type { A2AMessageType } from '../../../runtime/protocol/envelope.ts';

const accountsOf = (): Accounts => new Accounts(newAccountMemory(16), 1);

const mailOf = (type: A2AMessageType = 'request'): Mail =>
  new Mail(1, 'o', typeIndex(type), 'a', 'b', undefined, 0, null, 'c', 0, NO_ASK, undefined, undefined);

describe('What is sent from an envelope without a budget', () => {
  it('has none, and no account', () => {
    const mail = mailOf();
    expect(fundsOf(undefined)).toBeUndefined();
    expect(fundsOf(mail)).toBeUndefined();
    expect(new HandlingBudget(accountsOf(), mail).left).toEqual({});
  });

  it('gets what is wanted for it', () => {
    const accounts = accountsOf();
    const mail = mailOf();
    expect(fund(accounts, mail, { tokens: 5, costUsd: 0.5, hops: 2 }, undefined)).toBeUndefined();
    expect(mail.extras?.budget).toEqual({ tokens: 5, costUsd: 0.5, hops: 2 });
    expect(new HandlingBudget(accounts, mail).left).toEqual({ tokens: 5, costUsd: 0.5, hops: 2 });
    expect(accounts.size).toBe(1);
  });

  it('needs no account for hops alone', () => {
    const accounts = accountsOf();
    const mail = mailOf();
    fund(accounts, mail, { hops: 2 }, undefined);
    expect(mail.extras).toEqual({ budget: { hops: 2 } });
    expect(accounts.size).toBe(0);
  });
});

describe('What is sent from an envelope with a budget', () => {
  function handled(budget = { tokens: 10, hops: 2 }) {
    const accounts = accountsOf();
    const above = mailOf();
    fund(accounts, above, budget, undefined);
    return { accounts, above };
  }

  it('draws on its account, and shows what is left of that', () => {
    const { accounts, above } = handled();
    new HandlingBudget(accounts, above).spend({ tokens: 3 });
    const mail = mailOf();
    expect(fund(accounts, mail, undefined, fundsOf(above))).toBeUndefined();
    expect(mail.extras?.budget).toEqual({ tokens: 7, hops: 1 });
    new HandlingBudget(accounts, mail).spend({ tokens: 7 });
    expect(new HandlingBudget(accounts, above).left).toEqual({ tokens: 0, hops: 2 });
  });

  it('gets what is wanted split off from it', () => {
    const { accounts, above } = handled();
    const mail = mailOf();
    fund(accounts, mail, { tokens: 4 }, fundsOf(above));
    expect(mail.extras?.budget).toEqual({ tokens: 4, hops: 1 });
    expect(new HandlingBudget(accounts, above).left).toEqual({ tokens: 6, hops: 2 });
  });

  it('is refused more than there is, and gets no account', () => {
    const { accounts, above } = handled();
    const mail = mailOf();
    expect(fund(accounts, mail, { tokens: 11 }, fundsOf(above))?.code).toBe('BUDGET_EXCEEDED');
    expect(mail.extras).toBeUndefined();
    expect(accounts.size).toBe(1);
  });

  it.each(['request', 'task-proposal', 'stream-start'] as const)('has a hop less as a %s', (type) => {
    const { accounts, above } = handled({ tokens: 1, hops: 1 });
    const mail = mailOf(type);
    fund(accounts, mail, undefined, fundsOf(above));
    expect(mail.extras?.budget?.hops).toBe(0);
    expect(fund(accounts, mailOf(type), undefined, fundsOf(mail))?.code).toBe('HOP_LIMIT');
  });

  it('is no delegation where it asks for no work', () => {
    const { accounts, above } = handled({ tokens: 1, hops: 0 });
    const mail = mailOf('notification');
    expect(fund(accounts, mail, undefined, fundsOf(above))).toBeUndefined();
    expect(mail.extras?.budget).toEqual({ tokens: 1, hops: 0 });
  });

  it('never gets more hops than are left', () => {
    const { accounts, above } = handled({ tokens: 1, hops: 3 });
    const mail = mailOf();
    fund(accounts, mail, { hops: 9 }, fundsOf(above));
    expect(mail.extras?.budget?.hops).toBe(2);
    const narrowed = mailOf();
    fund(accounts, narrowed, { hops: 1 }, fundsOf(above));
    expect(narrowed.extras?.budget?.hops).toBe(1);
  });

  it('draws on it copy by copy, as a broadcast', () => {
    const { accounts, above } = handled();
    const mail = mailOf('notification');
    fund(accounts, mail, { tokens: 4 }, fundsOf(above));
    const copies = [copyOf(mail), copyOf(mail)] as const;
    for (const copy of copies) expect(fundCopy(accounts, copy, mail)).toBeUndefined();
    accounts.close(mail.extras?.account as number);
    new HandlingBudget(accounts, copies[0]).spend({ tokens: 3 });
    expect(() => new HandlingBudget(accounts, copies[1]).spend({ tokens: 2 })).toThrow('has 1 tokens left');
    for (const { extras } of copies) accounts.close(extras?.account as number);
    expect(new HandlingBudget(accounts, above).left.tokens).toBe(7);
  });
});

describe('The budget of a handling', () => {
  it('refuses before anything is taken, naming field and value of what is no cost', () => {
    const accounts = accountsOf();
    const mail = mailOf();
    fund(accounts, mail, { tokens: 5, costUsd: 0.1 }, undefined);
    const budget = new HandlingBudget(accounts, mail);
    expect(() => budget.spend({ tokens: -1 })).toThrow('cost.tokens is -1');
    expect(() => budget.spend({ tokens: 1, costUsd: Number.NaN })).toThrow('cost.costUsd is NaN');
    expect(() => budget.spend({ euros: 1 } as never)).toThrow('cost.euros is 1');
    expect(() => budget.spend({ tokens: 1, costUsd: 0.2 })).toThrow(
      /0\.1 USD left, asked for: 1 tokens and 0\.2 USD/,
    );
    expect(budget.left).toEqual({ tokens: 5, costUsd: 0.1 });
  });

  it('gives back at most what this handling has spent', () => {
    const accounts = accountsOf();
    const mail = mailOf();
    fund(accounts, mail, { tokens: 5, costUsd: 0.1 }, undefined);
    const budget = new HandlingBudget(accounts, mail);
    budget.spend({ tokens: 4, costUsd: 0.05 });
    expect(() => budget.refund({ tokens: 5 })).toThrow(
      'cost.tokens is 5, expected at most the 4 that this handling has',
    );
    expect(() => budget.refund({ costUsd: 0.06 })).toThrow('at most the 0.05 that');
    budget.refund({ tokens: 3, costUsd: 0.05 });
    expect(budget.left).toEqual({ tokens: 4, costUsd: 0.1 });
    expect(() => budget.refund({ tokens: 2 })).toThrow('at most the 1 that');
  });

  it('takes anything where nothing is limited, and knows what can be given back all the same', () => {
    const budget = new HandlingBudget(accountsOf(), mailOf());
    budget.spend({ tokens: 1e14, costUsd: 1e8 });
    expect(budget.left).toEqual({});
    expect(() => budget.refund({ tokens: 1e14, costUsd: 1e8 })).not.toThrow();
  });
});

describe('An envelope', () => {
  it('shows as an amount what could be spent on it, on the wire and back', () => {
    const accounts = accountsOf();
    const mail = mailOf();
    fund(accounts, mail, { tokens: 5, hops: 1 }, undefined);
    const envelope = toEnvelope(mail, 3, undefined);
    expect(envelope.metadata).toEqual({ tier: 3, capability: 'c', budget: { tokens: 5, hops: 1 } });
    expect(fromEnvelope(envelope).extras).toEqual({ budget: { tokens: 5, hops: 1 } });
  });
});
