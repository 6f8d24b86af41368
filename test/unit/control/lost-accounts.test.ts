import { describe, expect, it } from 'vitest';
import { AccountMemory, newAccountMemory } from '../../../runtime/budget/account-memory.ts';
import { Accounts } from '../../../runtime/budget/accounts.ts';
import { LostAccounts } from '../../../runtime/control/lost-accounts.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const ROUND_MS = 500;
const DEAD = 7;

/** A system with an account, of two places which answer `held`; `undefined` is no answer. */
function systemOf() {
  const memory = newAccountMemory(16);
  const accounts = new Accounts(memory, 0);
  const dead = new Accounts(memory, DEAD);
  const clock = new FakeClock();
  const held: (readonly number[] | undefined)[] = [[], []];
  const kept: number[] = [];
  const places = {
    areUp: true,
    isClosing: false,
    size: 2,
    askAll: async <Answer>() => held.filter((answer) => answer !== undefined) as Answer[],
  };
  const lost = new LostAccounts({ accounts, threads: places, clock, kept: () => kept });
  const top = accounts.open(undefined, { tokens: 10 }) as number;
  const rounds = async (count: number): Promise<void> => {
    for (let round = 0; round < count; round++) await clock.advanceAsync(ROUND_MS);
  };
  return { accounts, dead, words: new AccountMemory(memory), clock, held, kept, places, lost, top, rounds };
}

describe('What a dead thread had opened', () => {
  it('is closed when nobody has its envelopes in two rounds, and goes back', async () => {
    const { dead, lost, top, rounds, accounts, clock } = systemOf();
    dead.open(top, { tokens: 4 });
    lost.threadDied(DEAD);
    await rounds(1);
    expect(accounts.left(top)).toEqual({ tokens: 6 });
    await rounds(1);
    expect(accounts.left(top)).toEqual({ tokens: 10 });
    expect(clock.pending).toBe(0);
  });

  it.each(['a place', 'a second copy'])('stays open as long as %s has an envelope of it', async (holder) => {
    const { dead, lost, top, rounds, accounts, held, kept } = systemOf();
    const account = dead.open(top, { tokens: 4 }) as number;
    if (holder === 'a place') held[1] = [account];
    else kept.push(account);
    lost.threadDied(DEAD);
    await rounds(5);
    expect(accounts.left(top)).toEqual({ tokens: 6 });
    held[1] = [];
    kept.length = 0;
    await rounds(1);
    expect(accounts.left(top)).toEqual({ tokens: 6 });
    await rounds(1);
    expect(accounts.left(top)).toEqual({ tokens: 10 });
  });

  it.each(['does not answer', 'is not up'])('stays open while a place %s', async (fault) => {
    const { dead, lost, top, rounds, accounts, held, places } = systemOf();
    dead.open(top, { tokens: 4 });
    if (fault === 'is not up') places.areUp = false;
    else held[0] = undefined;
    lost.threadDied(DEAD);
    await rounds(5);
    expect(accounts.left(top)).toEqual({ tokens: 6 });
    places.areUp = true;
    held[0] = [];
    await rounds(2);
    expect(accounts.left(top)).toEqual({ tokens: 10 });
  });

  it('is not what others have opened below it', async () => {
    const { dead, lost, top, rounds, accounts } = systemOf();
    const account = dead.open(top, { tokens: 4 }) as number;
    const below = accounts.open(account, { tokens: 3 }) as number;
    lost.threadDied(DEAD);
    await rounds(3);
    expect(accounts.spend(below, { tokens: 2 })).toBeUndefined();
    accounts.close(below);
    expect(accounts.left(top)).toEqual({ tokens: 8 });
  });
});

describe('What a dead thread was in the middle of', () => {
  it('is finished when it was closing an account', async () => {
    const { accounts, words, lost, top, rounds } = systemOf();
    const account = accounts.open(top, { tokens: 4 }) as number;
    words.letGo(account);
    lost.threadDied(DEAD);
    await rounds(1);
    expect(accounts.left(top)).toEqual({ tokens: 10 });
    accounts.close(top);
    expect(accounts.size).toBe(0);
  });

  it('is corrected when it was opening one, and the one above stands still for a round', async () => {
    const { accounts, words, lost, top, rounds } = systemOf();
    words.addBelow(top);
    lost.threadDied(DEAD);
    accounts.close(accounts.open(top, {}) as number);
    await rounds(1);
    accounts.close(top);
    expect(accounts.size).toBe(0);
  });

  it('is left alone while the one above changes: somebody may be in the middle of it', async () => {
    const { accounts, words, lost, top, rounds } = systemOf();
    words.addBelow(top);
    lost.threadDied(DEAD);
    accounts.open(top, {});
    await rounds(1);
    expect(accounts.miscounted()).toHaveLength(1);
    await rounds(1);
    expect(accounts.miscounted()).toHaveLength(0);
  });
});

describe('A system that stops', () => {
  it('looks for nothing any more', async () => {
    const { dead, lost, top, rounds, clock, places } = systemOf();
    dead.open(top, { tokens: 4 });
    lost.threadDied(DEAD);
    places.isClosing = true;
    await rounds(1);
    expect(clock.pending).toBe(0);
  });
});
