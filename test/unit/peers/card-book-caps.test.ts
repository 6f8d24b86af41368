import { describe, expect, it } from 'vitest';
import type { SignedCard } from '../../../runtime/peers/signed-card.ts';
import { signingKeyPair } from '../../../runtime/protocol/signing.ts';
import { CardNode, keptBook, type KeptBook, MINUTE_MS } from '../../fixtures/peers/card-node.ts';
import { cardOf } from '../routing/standalone-team.ts';

const LARGE = 'x'.repeat(60_000);
const LEAST_BYTES = 196_608;

const countOf = (codes: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
};

const large = (node: CardNode, id: string): SignedCard => node.signed(cardOf(id, { description: LARGE }));

const nodesOf = (here: KeptBook, count: number): CardNode[] =>
  Array.from({ length: count }, (_, at) => new CardNode(`node-${at}`, here.node.clock));

const nodeIds = ({ book }: KeptBook): string[] => book.nodes().map(({ nodeId }) => nodeId);

describe('A book', () => {
  it('takes of 10,000 cards of one node as many as it may have, and verifies no more than these', () => {
    const here = keptBook({ verificationBurst: 1_000, verificationsPerSecond: 1 });
    const mars = new CardNode('mars', here.node.clock);
    const codes = Array.from(
      { length: 10_000 },
      (_, at) => here.take(mars.signed(`agent-${at}`))[0] as string,
    );
    expect(countOf(codes)).toEqual({ TAKEN: 1_000, NODE_FULL: 9_000 });
    expect(here.book.size).toBe(1_000);
    expect(here.take(mars.withdrawn('agent-7', { revision: 1 }))).toEqual(['TOO_MANY']);
    here.node.clock.advance(1_000);
    expect(here.take(mars.withdrawn('agent-7', { revision: 1 }))).toEqual(['TAKEN']);
  });

  it('takes of 10,000 nodes that one peer brings as many as it may bring, and others still come in', () => {
    const here = keptBook({ maxNodes: 50, maxNodesPerPeer: 20, verificationBurst: 20 });
    const codes = nodesOf(here, 10_000).map(
      (node) => here.book.take(node.signed('writer'), 'peer')?.code ?? 'TAKEN',
    );
    expect(countOf(codes)).toEqual({ TAKEN: 20, PEER_FULL: 9_980 });
    expect(here.book.refusals.get('PEER_FULL')).toBe(9_980);
    const others = nodesOf(here, 140).slice(100);
    expect(countOf(here.take(...others.map((node) => node.signed('writer'))))).toEqual({
      TAKEN: 30,
      BOOK_FULL: 10,
    });
    expect(here.book.nodes()).toHaveLength(50);
  });

  it('counts a node for itself once it brings its own cards', () => {
    const here = keptBook({ maxNodesPerPeer: 1 });
    const [one, two] = nodesOf(here, 2) as [CardNode, CardNode];
    expect(here.book.take(one.signed('writer'), 'peer')).toBeUndefined();
    expect(here.book.take(two.signed('writer'), 'peer')?.code).toBe('PEER_FULL');
    here.take(one.signed('writer', { revision: 1 }));
    expect(here.book.take(two.signed('writer'), 'peer')).toBeUndefined();
  });

  it('takes what makes less of a peer that has brought too much', () => {
    const here = keptBook({ maxBytesPerPeer: LEAST_BYTES });
    const [one, two] = nodesOf(here, 2) as [CardNode, CardNode];
    const brought = ['a', 'b', 'c'].map((id) => here.book.take(large(two, id), one.publicKey)?.code);
    expect(brought).toEqual([undefined, undefined, undefined]);
    expect(here.book.take(large(one, 'a'), 'peer')).toBeUndefined();
    expect(here.take(one.signed('b'), one.signed('c'))).toEqual(['TAKEN', 'PEER_FULL']);
    expect(here.take(one.withdrawn('b', { revision: 1 }))).toEqual(['TAKEN']);
  });

  it.each([
    ['of one node', { maxBytesPerNode: LEAST_BYTES }, 'NODE_FULL'],
    ['that one peer brought', { maxBytesPerPeer: LEAST_BYTES }, 'PEER_FULL'],
    ['of all nodes', { maxBytes: LEAST_BYTES }, 'BOOK_FULL'],
  ])('has no more bytes than it may have %s', (_, options, code) => {
    const here = keptBook(options);
    const [one] = nodesOf(here, 1) as [CardNode];
    const codes = here.take(...Array.from({ length: 10 }, (_, at) => large(one, `agent-${at}`)));
    expect(countOf(codes)).toEqual({ TAKEN: 3, [code]: 7 });
    expect(here.book.bytes).toBeLessThanOrEqual(LEAST_BYTES);
    expect(here.take(one.signed('agent-0', { revision: 1 }), large(one, 'agent-9'))).toEqual([
      'TAKEN',
      'TAKEN',
    ]);
    expect(here.book.bytes).toBeLessThanOrEqual(LEAST_BYTES);
  });

  it('counts neither cards nor bytes of a run that a new one ends', () => {
    const here = keptBook({ maxBytesPerNode: LEAST_BYTES, maxCardsPerNode: 3 });
    const [one] = nodesOf(here, 1) as [CardNode];
    const cardsOf = (bootEpoch: number) =>
      ['a', 'b', 'c'].map((id) =>
        one.signed(cardOf(`${id}${bootEpoch}`, { description: LARGE }), { bootEpoch }),
      );
    expect(here.take(...cardsOf(1), ...cardsOf(2))).toEqual(Array.from({ length: 6 }, () => 'TAKEN'));
    expect(here.book.size).toBe(3);
  });

  it('has always room for nodes whose keys the owner gave: others go, the last that came first', () => {
    const known = [signingKeyPair(), signingKeyPair()] as const;
    const here = keptBook({
      keys: { known: known[0].publicKey, friend: known[1].publicKey },
      maxNodes: 3,
      maxNodesPerPeer: 3,
    });
    here.take(...nodesOf(here, 3).map((node) => node.signed('writer')));
    here.changes.length = 0;
    expect(here.take(new CardNode('known', here.node.clock, known[0]).signed('writer'))).toEqual(['TAKEN']);
    expect(nodeIds(here)).toEqual(['known', 'node-0', 'node-1']);
    expect(here.changes[0]).toEqual({
      type: 'card.lost',
      nodeId: 'node-2',
      agentId: 'writer',
      why: 'displaced',
    });
    expect(here.take(new CardNode('friend', here.node.clock, known[1]).signed('writer'))).toEqual(['TAKEN']);
    expect(nodeIds(here)).toEqual(['friend', 'known', 'node-0']);
  });

  it('makes no room for a card that is forged', () => {
    const known = signingKeyPair();
    const here = keptBook({ keys: { known: known.publicKey }, maxNodes: 1 });
    here.take(...nodesOf(here, 1).map((node) => node.signed('writer')));
    const forged = { ...new CardNode('known', here.node.clock).signed('writer'), publicKey: known.publicKey };
    expect(here.take(forged)).toEqual(['FORGED']);
    expect(nodeIds(here)).toEqual(['node-0']);
  });

  it('is full when all in it are nodes whose keys the owner gave', () => {
    const keys = [signingKeyPair(), signingKeyPair()] as const;
    const here = keptBook({ keys: { a: keys[0].publicKey, b: keys[1].publicKey }, maxNodes: 1 });
    const [a, b] = ['a', 'b'].map((id, at) => new CardNode(id, here.node.clock, keys[at]));
    expect(here.take((a as CardNode).signed('writer'), (b as CardNode).signed('writer'))).toEqual([
      'TAKEN',
      'BOOK_FULL',
    ]);
  });

  it('verifies for each peer so many cards, and more as time goes', () => {
    const here = keptBook({ verificationBurst: 2, verificationsPerSecond: 2 });
    const [one, two] = nodesOf(here, 2) as [CardNode, CardNode];
    const forged = { ...one.signed('a'), signature: two.signed('a').signature };
    expect(here.take(forged, forged, forged, forged)).toEqual(['FORGED', 'FORGED', 'TOO_MANY', 'TOO_MANY']);
    expect(here.take(two.signed('a'))).toEqual(['TAKEN']);
    here.node.clock.advance(500);
    expect(here.take(one.signed('a'), one.signed('b'))).toEqual(['TAKEN', 'TOO_MANY']);
    here.node.clock.advance(MINUTE_MS);
    expect(here.take(one.signed('b'), one.signed('c'), one.signed('d'))).toEqual([
      'TAKEN',
      'TAKEN',
      'TOO_MANY',
    ]);
  });

  it('frees what has expired for those that come, without being told to', () => {
    const here = keptBook({ maxNodes: 1, maxLifetimeMs: 10 * MINUTE_MS });
    const [one, two] = nodesOf(here, 2) as [CardNode, CardNode];
    here.take(one.signed('writer'));
    expect(here.take(two.signed('writer'))).toEqual(['BOOK_FULL']);
    here.node.clock.advance(10 * MINUTE_MS);
    expect(here.take(two.signed('writer'))).toEqual(['TAKEN']);
    expect(nodeIds(here)).toEqual(['node-1']);
  });

  it('counts an expired card as little, whatever it was', () => {
    const here = keptBook();
    const [one] = nodesOf(here, 1) as [CardNode];
    here.take(large(one, 'writer'));
    here.take(one.withdrawn('reader'));
    here.node.clock.advance(10 * MINUTE_MS);
    const bytes = Buffer.byteLength(JSON.stringify(one.withdrawn('reader')));
    here.book.expire();
    expect([here.book.size, here.book.bytes]).toEqual([2, 512 + bytes]);
  });

  it('frees what has expired, too, when the clock was set back', () => {
    const here = keptBook({ maxNodes: 1, maxLifetimeMs: 10 * MINUTE_MS });
    const [one, two] = nodesOf(here, 2) as [CardNode, CardNode];
    here.node.clock.jump(-60 * MINUTE_MS);
    here.take(one.signed('writer'));
    here.node.clock.advance(10 * MINUTE_MS);
    expect(here.take(two.signed('writer'))).toEqual(['TAKEN']);
  });

  it('counts no cards of its own node, and forgets none for the room', () => {
    const known = signingKeyPair();
    const here = keptBook({ keys: { known: known.publicKey }, maxNodes: 1 });
    const [one] = nodesOf(here, 1) as [CardNode];
    here.book.announce(here.node.signed('writer'));
    expect(here.take(one.signed('writer'))).toEqual(['TAKEN']);
    here.book.forget('here');
    here.book.announce(here.node.signed('writer'));
    expect(here.take(new CardNode('known', here.node.clock, known).signed('writer'))).toEqual(['TAKEN']);
    expect(here.held().map(({ nodeId }) => nodeId)).toEqual(['here', 'known']);
  });

  it('counts nothing any more for a peer whose node is forgotten', () => {
    const here = keptBook({ maxNodesPerPeer: 1 });
    const [one, two, three] = nodesOf(here, 3) as [CardNode, CardNode, CardNode];
    const codes = [one, two].map((node) => {
      const code = here.book.take(node.signed('writer'), 'peer')?.code;
      here.book.forget(node.nodeId);
      return code;
    });
    expect(codes).toEqual([undefined, undefined]);
    here.book.take(one.signed('writer'), 'peer');
    expect(here.book.take(three.signed('writer'), 'peer')?.code).toBe('PEER_FULL');
  });

  it('remembers of 1,000 peers how much it has verified for them', () => {
    const here = keptBook({ verificationBurst: 1, verificationsPerSecond: 1 });
    const [one] = nodesOf(here, 1) as [CardNode];
    const forged = { ...one.signed('a'), signature: one.signed('b').signature };
    const codeFor = (peer: string): string | undefined => here.book.take(forged, peer)?.code;
    const peers = Array.from({ length: 1_000 }, (_, at) => `peer-${at}`);
    expect(countOf(peers.map((peer) => codeFor(peer) as string))).toEqual({ FORGED: 1_000 });
    expect(codeFor('peer-0')).toBe('TOO_MANY');
    expect(codeFor('one more')).toBe('FORGED');
    expect(codeFor('peer-0')).toBe('TOO_MANY');
    expect(codeFor('peer-1')).toBe('FORGED');
  });
});
