import { describe, expect, it } from 'vitest';
import { Trust } from '../../../runtime/peers/trust.ts';
import {
  isNameOfOthers,
  judgesAlike,
  revoking,
  takesOver,
  trusting,
  trustOf,
} from '../../../runtime/peers/trust-book.ts';
import { signingKeyPair } from '../../../runtime/protocol/signing.ts';

const key = (): string => signingKeyPair().publicKey;

describe('Whom a node trusts while it runs (C-31)', () => {
  const [old, next, other] = [key(), key(), key()];
  const entry = (of: string, more: object = {}): Trust => Trust.parse({ key: of, ...more });

  it('is let in until it is revoked, also where any key is, and again when it is trusted again', () => {
    const book = { trust: [entry('*'), entry(old, { tier: 1 })], revoked: [] };
    const without = revoking(revoking(book, old), old);
    expect(trustOf(without, old)).toBeUndefined();
    expect(trustOf(without, other)).toMatchObject({ key: '*' });
    expect(without.revoked).toEqual([old]);
    const again = trusting(trusting(without, entry(old)), entry(old, { tier: 2 }));
    expect(trustOf(again, old)).toMatchObject({ tier: 2 });
    expect(again).toMatchObject({ revoked: [], trust: [{ key: '*' }, { key: old }] });
  });

  it('takes over the name of a key that an earlier entry gives it, never of a later one or of a stranger', () => {
    const book = {
      trust: [entry(old, { node: 'oslo' }), entry(next, { node: 'oslo' }), entry(other)],
      revoked: [],
    };
    expect(takesOver(book, 'oslo', { by: next, from: old })).toBe(true);
    expect(takesOver(book, 'oslo', { by: old, from: next })).toBe(false);
    expect(takesOver(book, 'oslo', { by: other, from: old })).toBe(false);
    expect(takesOver(book, 'oslo', { by: next, from: other })).toBe(false);
    expect(takesOver(book, 'rome', { by: next, from: old })).toBe(false);
  });

  it('does not have a name that entries give to others alone', () => {
    const [named, any] = [entry(old, { node: 'oslo' }), entry('*')];
    const book = { trust: [any, named], revoked: [] };
    expect(isNameOfOthers(book, 'oslo', any)).toBe(true);
    expect(isNameOfOthers(book, 'oslo', named)).toBe(false);
    expect(isNameOfOthers(book, 'rome', any)).toBe(false);
  });

  it('is judged alike under entries that differ in nothing but the key', () => {
    expect(judgesAlike(entry(old), entry(next))).toBe(true);
    for (const more of [
      { tier: 1 },
      { sandboxId: null },
      { trusted: true },
      { agents: ['a'] },
      { node: 'x' },
    ])
      expect(judgesAlike(entry(old), entry(next, more))).toBe(false);
  });
});
