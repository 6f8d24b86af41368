import { describe, expect, it } from 'vitest';
import { CardAnswer, CardDigest, nextAfter } from '../../../runtime/peers/card-digest.ts';
import { CardNode, KeptBook, keptBook, overTheWire } from '../../fixtures/peers/card-node.ts';
import { cardOf } from '../routing/standalone-team.ts';

/** Two books, whose nodes know a third one. */
function pair(options: ConstructorParameters<typeof KeptBook>[1] = {}) {
  const one = keptBook(options);
  const { clock } = one.node;
  const other = new KeptBook(new CardNode('there', clock), options);
  return { one, other, mars: new CardNode('mars', clock) };
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `agent-${at}`);

describe('What two books exchange (N-1.7)', () => {
  it('is what the other one lacks or has older, and then nothing', () => {
    const { one, other, mars } = pair();
    one.take(mars.signed('a'), mars.signed('b', { revision: 1 }), mars.signed('c'));
    other.take(mars.signed('a'), mars.signed('b'), mars.signed('d'), mars.signed('c', { revision: 1 }));
    expect([other.ask(one), one.ask(other)]).toEqual([1, 2]);
    expect(other.held()).toEqual(one.held());
    expect([other.ask(one), one.ask(other)]).toEqual([0, 0]);
    expect([...one.refused, ...other.refused]).toEqual([]);
  });

  it('has one fingerprint for the same cards, and another one for others', () => {
    const { one, other, mars } = pair();
    const cards = [mars.signed('a'), mars.signed('b'), mars.withdrawn('c')] as const;
    const seen = new Set([one.book.fingerprint()]);
    for (const card of cards) {
      one.take(card);
      seen.add(one.book.fingerprint());
    }
    other.take(...cards.toReversed());
    expect(other.book.fingerprint()).toBe(one.book.fingerprint());
    other.take(mars.signed('a', { revision: 1 }));
    seen.add(other.book.fingerprint());
    expect(seen.size).toBe(5);
    one.ask(other);
    expect(one.book.fingerprint()).toBe(other.book.fingerprint());
    mars.clock.advance(60 * 60_000);
    expect(one.book.fingerprint()).toBe(pair().one.book.fingerprint());
  });

  it('goes page by page: none has more cards or bytes than it may, and all come', () => {
    const { one, other, mars } = pair({ pageCards: 7, pageBytes: 4_000 });
    one.take(...ids(40).map((id) => mars.signed(id)));
    other.take(...ids(20).map((id) => mars.signed(id)));
    const digest = one.book.digest();
    const answer = one.book.missingFrom({ cards: [] });
    expect(digest.through).toBe(digest.cards.at(-1)?.name);
    expect(CardDigest.parse(overTheWire(digest))).toEqual(digest);
    expect(CardAnswer.parse(overTheWire(answer))).toEqual(answer);
    expect(digest.cards.length).toBeLessThanOrEqual(7);
    expect(answer.cards.length).toBeLessThanOrEqual(7);
    expect(Buffer.byteLength(JSON.stringify(answer.cards))).toBeLessThan(4_100);
    expect(other.ask(one)).toBe(20);
    expect(other.held()).toEqual(one.held());
  });

  it('brings a card that is longer than a page, alone', () => {
    const { one, other, mars } = pair({ pageBytes: 10 });
    one.take(mars.signed(cardOf('a', { description: 'x'.repeat(60_000) })), mars.signed('b'));
    expect(one.book.missingFrom({ cards: [] }).cards).toHaveLength(1);
    expect(other.ask(one)).toBe(2);
  });

  it('goes on behind cards that the other one refuses', () => {
    const { one, other, mars } = pair({ pageCards: 3 });
    const thief = new CardNode('mars', mars.clock);
    const venus = new CardNode('venus', mars.clock);
    one.take(...ids(10).map((id) => mars.signed(id)), venus.signed('reader'));
    other.take(thief.signed('writer'));
    other.ask(one);
    expect(other.found('reader')).toEqual(['venus/reader']);
    expect(other.book.refusals.get('OTHER_KEY')).toBe(10);
    expect(other.found('agent-1')).toEqual([]);
  });

  it('is no card of a name that the other one knows under another key', () => {
    const { one, other, mars } = pair();
    one.take(mars.signed('writer', { revision: 1 }));
    other.take(new CardNode('mars', mars.clock).signed('writer'));
    expect([other.ask(one), one.ask(other)]).toEqual([0, 0]);
  });

  it('reaches a node by way of a third one', () => {
    const { one, other, mars } = pair();
    const third = new KeptBook(new CardNode('third', mars.clock));
    one.book.announce(one.node.signed('writer'));
    other.ask(one);
    third.ask(other);
    expect(third.found('here/writer')).toEqual(['here/writer']);
    expect(third.book.nodes()[0]).toMatchObject({
      publicKey: one.node.publicKey,
      broughtBy: other.node.publicKey,
    });
  });
});

describe('Where the next digest begins', () => {
  const card = {};
  it.each([
    ['behind the last card of a full page', { after: 'n/a', through: 'n/z' }, [card], 'n/c', 'n/c'],
    ['at the end of its part', { after: 'n/a', through: 'n/z' }, [], 'n/z', 'n/z'],
    ['nowhere, when all is said', { after: 'n/a' }, [card], undefined, undefined],
    ['nowhere, if the answer goes back', { after: 'n/c', through: 'n/z' }, [card], 'n/b', undefined],
    ['nowhere, if it stands still', { after: 'n/c' }, [card], 'n/c', undefined],
    ['nowhere, if it goes further than asked', { through: 'n/c' }, [card], 'n/d', undefined],
    ['nowhere, if it stops for nothing', { after: 'n/a' }, [], 'n/c', undefined],
  ] as const)('is %s', (_, part, cards, through, next) => {
    const answer = { cards: [...cards], ...(through === undefined ? {} : { through }) };
    expect(nextAfter({ ...part, cards: [] }, answer)).toBe(next);
  });
});

describe('A digest of a peer', () => {
  const { publicKey } = new CardNode('mars', keptBook().node.clock);
  const entry = { name: 'mars/a', publicKey, bootEpoch: 1, revision: 0, issuedAtMs: 1, mark: 'x'.repeat(22) };
  it.each([
    ['more cards than a page', { cards: Array.from({ length: 1_001 }, () => entry) }],
    ['a name that is too long', { cards: [{ ...entry, name: 'x'.repeat(1_154) }] }],
    ['a mark of another length', { cards: [{ ...entry, mark: '' }] }],
    ['a field that is not known', { cards: [], more: true }],
    ['no cards', {}],
  ])('with %s is none', (_, value) => {
    expect(CardDigest.safeParse({ cards: [entry] }).success).toBe(true);
    expect(CardDigest.safeParse(value).success).toBe(false);
  });
});
