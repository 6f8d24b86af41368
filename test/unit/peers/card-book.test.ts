import { describe, expect, it } from 'vitest';
import { CardBook } from '../../../runtime/peers/card-book.ts';
import { signingKeyPair } from '../../../runtime/protocol/signing.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { CardNode, KeptBook, keptBook, MINUTE_MS } from '../../fixtures/peers/card-node.ts';
import { cardOf, offers } from '../routing/standalone-team.ts';

const HOUR_MS = 60 * MINUTE_MS;

/** A book of `here`, and nodes whose cards it takes. */
function team(options: Parameters<typeof keptBook>[0] = {}, deps: Parameters<typeof keptBook>[1] = {}) {
  const here = keptBook(options, deps);
  const { clock } = here.node;
  const [mars, venus, thief] = [
    new CardNode('mars', clock),
    new CardNode('venus', clock),
    new CardNode('mars', clock),
  ] as const;
  return { here, clock, mars, venus, thief };
}

describe('Which card of an agent a book has (N-1.7)', () => {
  it('is the newest, whatever comes first and however often', () => {
    const { here, mars } = team();
    const cards = [0, 1, 2].map((revision) =>
      mars.signed(cardOf('writer', { name: `name ${revision}` }), { revision }),
    );
    const [first, second, third] = cards as [never, never, never];
    expect(here.take(second, first, second, third, third, first)).toEqual([
      'TAKEN',
      'OUTDATED',
      'KNOWN',
      'TAKEN',
      'KNOWN',
      'OUTDATED',
    ]);
    expect(here.book.find('writer').map(({ card }) => card.name)).toEqual(['name 2']);
    expect(here.changes.map(({ type }) => type)).toEqual(['card.taken', 'card.taken']);
  });

  it('is of the later run of its node, though its revision is lower', () => {
    const { here, mars } = team();
    here.take(mars.signed('writer', { bootEpoch: 1, revision: 9 }));
    expect(here.take(mars.signed(cardOf('writer', { name: 'new' }), { bootEpoch: 2, revision: 0 }))).toEqual([
      'TAKEN',
    ]);
    expect(here.book.find('writer').map(({ card }) => card.name)).toEqual(['new']);
  });

  it('is none of a former run, once the node has started again: old cards do not come back', () => {
    const { here, mars } = team();
    const old = [mars.signed('writer'), mars.signed('reader'), mars.signed('unseen')] as const;
    here.take(old[0], old[1]);
    here.changes.length = 0;
    here.take(mars.signed('writer', { bootEpoch: 2 }));
    expect(here.found('reader')).toEqual([]);
    expect(here.changes).toMatchObject([
      { type: 'card.lost', nodeId: 'mars', agentId: 'reader', why: 'restarted' },
      { type: 'card.taken', nodeId: 'mars', card: { id: 'writer' } },
    ]);
    expect(here.take(...old)).toEqual(['OUTDATED', 'OUTDATED', 'OUTDATED']);
  });

  it('stays when it is signed again, and is valid for longer', () => {
    const { here, clock, mars } = team();
    here.take(mars.signed('writer'));
    clock.advance(9 * MINUTE_MS);
    expect(here.take(mars.signed('writer'))).toEqual(['TAKEN']);
    expect(here.changes.at(-1)).toMatchObject({
      type: 'card.renewed',
      expiresAtMs: clock.now() + 10 * MINUTE_MS,
    });
    clock.advance(9 * MINUTE_MS);
    expect(here.found('writer')).toEqual(['mars/writer']);
  });

  it('is the one that was signed last, of those with the same numbers', () => {
    const { here, clock, mars } = team();
    const cards = Array.from({ length: 20 }, () => {
      clock.advance(1);
      return mars.signed('writer');
    });
    expect(new Set(here.take(...cards))).toEqual(new Set(['TAKEN']));
    expect(new Set(here.take(...cards.slice(0, -1)))).toEqual(new Set(['OUTDATED']));
  });

  it('is the same one everywhere, though a node gave two cards the same numbers', () => {
    const { clock, mars } = team();
    const two = ['one', 'other'].map((name) => mars.signed(cardOf('writer', { name }))) as [never, never];
    const books = [two, two.toReversed()].map((cards) => {
      const book = new KeptBook(new CardNode('here', clock), {});
      book.take(...(cards as typeof two));
      return book.book.find('writer')[0]?.card.name;
    });
    expect(books[0]).toBe(books[1]);
  });
});

describe('The runs of a node', () => {
  it('are remembered as long as a card of a former one can be valid, though later cards have expired', () => {
    const { here, clock, mars } = team();
    const startMs = clock.now();
    const old = mars.signed('reader', { expiresAtMs: startMs + HOUR_MS });
    here.take(old);
    // The clock of the node was set back before it started again.
    const times = { issuedAtMs: startMs - 9 * MINUTE_MS, expiresAtMs: startMs + MINUTE_MS };
    expect(here.take(mars.signed('writer', { bootEpoch: 2, ...times }))).toEqual(['TAKEN']);
    clock.advance(HOUR_MS - 1);
    here.book.expire();
    expect([here.book.size, here.take(old)]).toEqual([0, ['OUTDATED']]);
    clock.advance(1);
    here.book.expire();
    expect(here.book.nodes()).toEqual([]);
  });
});

describe('A card that has expired', () => {
  it('is never shown, handed on or taken, and its room is free in the end', () => {
    const { here, clock, mars } = team();
    const card = mars.signed(cardOf('writer', offers('text.write')));
    here.take(card);
    clock.advance(10 * MINUTE_MS - 1);
    expect(here.found('writer')).toEqual(['mars/writer']);
    clock.advance(1);
    expect(here.found('writer')).toEqual([]);
    expect(here.book.findByCapability('text.write')).toEqual([]);
    expect(here.book.digest().cards).toEqual([]);
    expect(here.held()).toEqual([]);
    expect(here.take(card)).toEqual(['EXPIRED']);
    here.book.expire();
    expect(here.changes.at(-1)).toEqual({
      type: 'card.lost',
      nodeId: 'mars',
      agentId: 'writer',
      why: 'expired',
    });
    clock.advance(50 * MINUTE_MS);
    here.book.expire();
    expect([here.book.size, here.book.bytes, here.book.nodes()]).toEqual([0, 0, []]);
  });

  it('keeps away older cards that are valid for longer', () => {
    const { here, clock, mars } = team();
    const old = mars.signed('writer', { expiresAtMs: clock.now() + HOUR_MS });
    here.take(mars.signed('writer', { revision: 1, expiresAtMs: clock.now() + 1 }));
    clock.advance(HOUR_MS - 1);
    here.book.expire();
    expect(here.take(old)).toEqual(['OUTDATED']);
    clock.advance(1);
    expect(here.take(old)).toEqual(['EXPIRED']);
  });

  it.each([
    ['issued more than the skew from now', { issuedAtMs: 60_001, expiresAtMs: 120_000 }, 'ISSUED_LATER'],
    ['issued within the skew', { issuedAtMs: 60_000, expiresAtMs: 120_000 }, 'TAKEN'],
    ['valid for longer than may be', { issuedAtMs: 0, expiresAtMs: HOUR_MS + 1 }, 'LIVES_TOO_LONG'],
    ['valid as long as may be', { issuedAtMs: 0, expiresAtMs: HOUR_MS }, 'TAKEN'],
    ['over at this moment', { issuedAtMs: -1_000, expiresAtMs: 0 }, 'EXPIRED'],
  ])('or is %s', (_, times, outcome) => {
    const { here, clock, mars } = team();
    const issuedAtMs = clock.now() + times.issuedAtMs;
    const expiresAtMs = clock.now() + times.expiresAtMs;
    expect(here.take(mars.signed('writer', { issuedAtMs, expiresAtMs }))).toEqual([outcome]);
  });
});

describe('A withdrawn card', () => {
  it('keeps older cards of the agent away', () => {
    const { here, mars } = team();
    const card = mars.signed('writer');
    here.take(card, mars.withdrawn('writer', { revision: 1 }));
    expect(here.found('writer')).toEqual([]);
    expect(here.changes.at(-1)).toEqual({
      type: 'card.lost',
      nodeId: 'mars',
      agentId: 'writer',
      why: 'withdrawn',
    });
    expect(here.take(card)).toEqual(['OUTDATED']);
  });

  it('may come before the card, and is handed on', () => {
    const { here, clock, mars } = team();
    const withdrawal = mars.withdrawn('writer', { revision: 1 });
    expect(here.take(withdrawal, mars.signed('writer'))).toEqual(['TAKEN', 'OUTDATED']);
    const other = new KeptBook(new CardNode('other', clock));
    other.take(mars.signed('writer'));
    other.ask(here);
    expect(other.found('writer')).toEqual([]);
  });

  it('gives way to a newer card', () => {
    const { here, mars } = team();
    here.take(mars.withdrawn('writer', { revision: 1 }), mars.signed('writer', { revision: 2 }));
    expect(here.found('writer')).toEqual(['mars/writer']);
  });
});

describe("A card for somebody else's id (C-31, N-1.7)", () => {
  it('is refused while another key holds the name of the node', () => {
    const { here, mars, thief } = team();
    here.take(mars.signed('writer'));
    expect(here.take(thief.signed('writer', { revision: 9 }), thief.signed('spy'))).toEqual([
      'OTHER_KEY',
      'OTHER_KEY',
    ]);
    expect(here.refused[0]).toEqual({
      code: 'OTHER_KEY',
      reason: `"mars" has the key "${mars.publicKey}", not "${thief.publicKey}"`,
      peer: thief.publicKey,
    });
    expect(here.book.find('writer').map(({ publicKey }) => publicKey)).toEqual([mars.publicKey]);
  });

  it('is refused if the key has not signed it, and changes nothing', () => {
    const { here, mars, thief } = team();
    const card = mars.signed('writer');
    here.take(card);
    const forged = { ...thief.signed('writer', { revision: 9 }), publicKey: mars.publicKey };
    expect(here.take(forged)).toEqual(['FORGED']);
    expect(here.held()).toEqual([card]);
  });

  it('is refused if it is for this node, by its name or its key', () => {
    const { here, clock } = team();
    const claims = [
      new CardNode('here', clock).signed('writer'),
      new CardNode('there', clock, here.node.keys).signed('writer'),
    ] as const;
    expect(here.take(...claims)).toEqual(['OWN_NODE', 'OWN_NODE']);
    expect(here.book.nodes()).toEqual([]);
  });

  it('is refused before its signature is looked at, if the owner does not admit the key', () => {
    const asked: unknown[] = [];
    const { here, mars } = team(
      { verificationBurst: 1 },
      {
        admits: (nodeId, publicKey) => {
          asked.push([nodeId, publicKey]);
          return false;
        },
      },
    );
    expect(here.take(mars.signed('writer'), mars.signed('reader'))).toEqual(['NOT_ADMITTED', 'NOT_ADMITTED']);
    expect(asked[0]).toEqual(['mars', mars.publicKey]);
  });

  it('leaves an agent of the same id on another node as it is', () => {
    const { here, mars, venus } = team();
    here.take(mars.signed('writer'), venus.signed('writer', { revision: 9 }));
    expect(here.found('writer')).toEqual(['mars/writer', 'venus/writer']);
  });
});

describe('The name of a node', () => {
  it('is free when all cards of its key could have expired, and not before', () => {
    const { here, clock, mars, thief } = team();
    here.take(mars.signed('writer'));
    clock.advance(HOUR_MS - 1);
    expect(here.take(thief.signed('writer'))).toEqual(['OTHER_KEY']);
    clock.advance(1);
    here.book.expire();
    expect(here.take(thief.signed('writer'))).toEqual(['TAKEN']);
  });

  it('is free when the node is forgotten', () => {
    const { here, mars, thief } = team();
    here.take(mars.signed('writer'));
    here.book.forget('mars');
    here.book.forget('nobody');
    expect(here.changes.at(-1)).toEqual({
      type: 'card.lost',
      nodeId: 'mars',
      agentId: 'writer',
      why: 'forgotten',
    });
    expect([here.book.size, here.book.bytes]).toEqual([0, 0]);
    expect(here.take(thief.signed('writer'))).toEqual(['TAKEN']);
  });

  it('belongs to the key that the owner gave, though it is forgotten or another was first', () => {
    const keys = signingKeyPair();
    const { here, clock, thief } = team({ keys: { mars: keys.publicKey } });
    const mars = new CardNode('mars', clock, keys);
    expect(here.take(thief.signed('writer'), mars.signed('writer'))).toEqual(['OTHER_KEY', 'TAKEN']);
    here.book.forget('mars');
    expect(here.take(thief.signed('writer'))).toEqual(['OTHER_KEY']);
  });

  it('is taken from whoever holds it when the owner gives it another key', () => {
    const { here, mars, thief } = team();
    here.take(thief.signed('writer'));
    here.book.setKey('mars', mars.publicKey);
    expect(here.changes.at(-1)).toMatchObject({ type: 'card.lost', why: 'forgotten' });
    expect(here.found('writer')).toEqual([]);
    expect(here.take(thief.signed('writer'), mars.signed('writer'))).toEqual(['OTHER_KEY', 'TAKEN']);
    here.book.setKey('mars', mars.publicKey);
    expect(here.found('writer')).toEqual(['mars/writer']);
    here.book.setKey('mars', undefined);
    here.book.forget('mars');
    expect(here.take(thief.signed('writer'))).toEqual(['TAKEN']);
  });

  it.each([
    ['here', 'nodeId is "here", expected the name of another node than this one'],
    ['a/b', 'nodeId is "a/b", expected a name of at most 128 characters'],
  ])('%s takes no key', (nodeId, fault) => {
    const { here, mars } = team();
    expect(() => here.book.setKey(nodeId, mars.publicKey)).toThrow(fault);
    expect(() => here.book.setKey('mars', 'no key')).toThrow('publicKey is "no key"');
  });
});

describe('Who is found', () => {
  it('comes in one order: nodes whose keys the owner gave, then by name of node and id', () => {
    const trusted = signingKeyPair();
    const here = keptBook({ keys: { zeta: trusted.publicKey } });
    const { clock } = here.node;
    const nodes = [
      new CardNode('beta', clock),
      new CardNode('zeta', clock, trusted),
      new CardNode('beta-2', clock),
      new CardNode('alpha', clock),
    ];
    for (const node of nodes)
      here.take(...['b', 'a'].map((id) => node.signed(cardOf(id, offers('text.write', 'text.write')))));
    expect(here.found('a')).toEqual(['zeta/a', 'alpha/a', 'beta/a', 'beta-2/a']);
    expect(
      here.book.findByCapability('text.write').map(({ nodeId, card }) => `${nodeId}/${card.id}`),
    ).toEqual(['zeta/a', 'zeta/b', 'alpha/a', 'alpha/b', 'beta/a', 'beta/b', 'beta-2/a', 'beta-2/b']);
  });

  it('is named by node and id with a slash: an id with one never passes for it', () => {
    const { here, mars, venus } = team();
    here.take(venus.signed('mars/writer'));
    expect(here.found('mars/writer')).toEqual([]);
    expect(here.found('venus/mars/writer')).toEqual(['venus/mars/writer']);
    here.take(mars.signed('writer'));
    expect(here.found('mars/writer')).toEqual(['mars/writer']);
  });

  it('offers what its newest card says', () => {
    const { here, mars } = team();
    here.take(mars.signed(cardOf('writer', offers('text.write', 'text.read'))));
    here.take(mars.signed(cardOf('writer', offers('text.read')), { revision: 1 }));
    expect(here.book.findByCapability('text.write')).toEqual([]);
    expect(here.book.findByCapability('text.read')).toHaveLength(1);
  });

  it('is no agent of this node, which are for the others', () => {
    const { here, clock } = team();
    here.book.announce(here.node.signed('writer'));
    expect([here.found('writer'), here.found('here/writer'), here.book.nodes(), here.book.bytes]).toEqual([
      [],
      [],
      [],
      0,
    ]);
    expect(here.changes).toEqual([]);
    const other = new KeptBook(new CardNode('other', clock));
    other.ask(here);
    expect(other.found('writer')).toEqual(['here/writer']);
  });

  it('stands in the list of nodes, with who brought it', () => {
    const { here, mars, venus } = team();
    here.book.take(venus.signed('reader'), 'bringer');
    here.book.take(mars.signed('reader'), 'bringer');
    here.take(mars.signed('writer', { bootEpoch: 4 }), mars.withdrawn('reader', { bootEpoch: 4 }));
    expect(here.book.nodes()).toEqual([
      { nodeId: 'mars', publicKey: mars.publicKey, bootEpoch: 4, broughtBy: mars.publicKey, cards: 1 },
      { nodeId: 'venus', publicKey: venus.publicKey, bootEpoch: 1, broughtBy: 'bringer', cards: 1 },
    ]);
  });
});

describe('A card of this node', () => {
  it.each([
    [
      'signed by another',
      (clock: FakeClock) => new CardNode('here', clock).signed('writer'),
      /nodeId is "here"/,
    ],
    [
      'of another node',
      (clock: FakeClock) => new CardNode('mars', clock).signed('writer'),
      /nodeId is "mars"/,
    ],
  ])('is not announced if it is %s', (_, make, fault) => {
    const { here, clock } = team();
    expect(() => here.book.announce(make(clock))).toThrow(fault);
  });

  it('is not announced if it is no signed card, expired, or not newer', () => {
    const { here, clock } = team();
    const card = here.node.signed('writer', { revision: 1 });
    here.book.announce(card);
    expect(() => here.book.announce(card)).toThrow('"here/writer" is known');
    expect(() => here.book.announce(here.node.signed('writer'))).toThrow('There is a newer card');
    expect(() => here.book.announce({ ...card, revision: 2 })).toThrow('has not made over this card');
    clock.advance(HOUR_MS);
    expect(() => here.book.announce(card)).toThrow('It was valid until');
  });
});

describe('The options of a book', () => {
  const { publicKey } = signingKeyPair();
  it.each([
    [{ nodeId: 'a/b' }, 'cards.nodeId is "a/b"'],
    [{ publicKey: 'key' }, 'cards.publicKey is "key"'],
    [{ maxNodes: 0 }, 'cards.maxNodes is 0'],
    [{ maxBytes: 10 }, 'cards.maxBytes is 10, expected a number of at least 196608'],
    [{ pageCards: 1_001 }, 'cards.pageCards is 1001'],
    [{ keys: { mars: 'key' } }, 'cards.keys.mars is "key"'],
    [{ keys: { here: publicKey } }, 'expected keys of other nodes than this one'],
    [{ unheardOf: 1 }, 'cards.unheardOf is 1, expected no option of this name'],
  ])('%j are refused', (options, fault) => {
    const make = () => new CardBook({ nodeId: 'here', publicKey, ...options }, { clock: new FakeClock() });
    expect(make).toThrow(fault);
  });
});
