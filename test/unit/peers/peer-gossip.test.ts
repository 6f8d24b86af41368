import { describe, expect, it } from 'vitest';
import type { SignedCard } from '../../../runtime/peers/signed-card.ts';
import { type PeerMessage, readPeerMessages } from '../../../runtime/peers/peer-message.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { CardNode, MINUTE_MS } from '../../fixtures/peers/card-node.ts';
import { GossipNode, meet } from '../../fixtures/peers/gossip-node.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';
import { cardOf } from '../routing/standalone-team.ts';

const SECOND_MS = 1_000;

/** Lets what was said arrive, and what comes of it. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Lets so much time pass, and in each second what is said arrive. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= SECOND_MS) {
    await turns();
    clock.advance(Math.min(left, SECOND_MS));
  }
  await turns();
}

/** Three nodes in a row: rome and bern know each other, bern and oslo, and nobody else. */
async function row() {
  const clock = new FakeClock();
  const [rome, bern, oslo] = ['rome', 'bern', 'oslo'].map((node) => new GossipNode(node, clock)) as [
    GossipNode,
    GossipNode,
    GossipNode,
  ];
  oslo.has('writer');
  const ends = { rome: meet(rome, bern), oslo: meet(bern, oslo) };
  await pass(clock, SECOND_MS);
  return { clock, rome, bern, oslo, ends };
}

/** What bern says to rome, whatever it is. */
async function says(bern: GossipNode, rome: GossipNode) {
  const [, end] = meet(rome, bern);
  await turns();
  return async (...cards: readonly unknown[]) => {
    for (let at = 0; at < cards.length; at += 500)
      end.session.say({ type: 'signed-cards', cards: cards.slice(at, at + 500) });
    await turns();
    return rome.refused.map(([{ code }]) => code);
  };
}

describe('What nodes in session tell each other of a third one (N-1.7, N-1.8, C-02)', () => {
  it('is where its agents are, and comes at once: when sessions begin, and when agents do', async () => {
    const { rome, oslo, clock } = await row();
    expect(rome.where('writer')).toEqual(['ws://oslo']);
    expect(rome.where('oslo/writer')).toEqual(['ws://oslo']);
    oslo.has('writer', 'reader');
    await pass(clock, 2 * SECOND_MS);
    expect(rome.where('reader')).toEqual(['ws://oslo']);
    expect(rome.came.map(({ card }) => card.id)).toEqual(['writer', 'reader']);
    expect(rome.gossip.endpointsOf('oslo')).toEqual([{ transport: 'websocket', address: 'ws://oslo' }]);
  });

  it('ends with its agents, and with its time where it says nothing more', async () => {
    const { rome, oslo, clock, ends } = await row();
    oslo.has();
    await pass(clock, 2 * SECOND_MS);
    expect(rome.where('writer')).toEqual([]);
    oslo.has('reader');
    await pass(clock, 2 * SECOND_MS);
    expect(rome.where('reader')).toEqual(['ws://oslo']);
    ends.oslo[0].session.end('it is gone');
    ends.oslo[1].session.end('it is gone');
    await pass(clock, 11 * MINUTE_MS);
    expect(rome.where('reader')).toEqual([]);
    expect(rome.gossip.endpointsOf('oslo')).toEqual([]);
  });

  it('stays known for as long as it is renewed', async () => {
    const { rome, clock } = await row();
    await pass(clock, 30 * MINUTE_MS);
    expect(rome.where('writer')).toEqual(['ws://oslo']);
    expect(rome.refused).toEqual([]);
  });

  it('is the address of its newest run, and nothing of the runs before', async () => {
    const { rome, bern, oslo, clock, ends } = await row();
    oslo.has('writer', 'reader');
    await pass(clock, SECOND_MS);
    for (const { session } of ends.oslo) session.end('it is gone');
    const again = new GossipNode('oslo', clock, { epoch: 2, keys: oslo.keys, at: 'ws://elsewhere' });
    again.has('writer');
    meet(bern, again);
    await pass(clock, SECOND_MS);
    expect(rome.where('writer')).toEqual(['ws://elsewhere']);
    expect(rome.where('reader')).toEqual([]);
    for (const { refused } of [rome, bern, again]) expect(refused).toEqual([]);
  });

  it('is neither kept nor shown by a node that does not trust its key, and forgotten with that', async () => {
    const { rome, oslo, bern, clock } = await row();
    rome.distrusted.add(oslo.keys.publicKey);
    rome.gossip.forget(oslo.keys.publicKey);
    expect(rome.where('writer')).toEqual([]);
    expect(rome.gossip.size).toEqual({ cards: 0, bytes: 0 });
    oslo.has('writer', 'reader');
    await pass(clock, MINUTE_MS);
    expect(rome.where('reader')).toEqual([]);
    expect(bern.where('reader')).toEqual(['ws://oslo']);
    // Trusted again, it is asked for.
    rome.distrusted.clear();
    rome.gossip.trust([]);
    await pass(clock, SECOND_MS);
    expect(rome.where('reader')).toEqual(['ws://oslo']);
  });

  it('reaches every node of a chain, each card once over each session', async () => {
    const clock = new FakeClock();
    const chain = Array.from({ length: 5 }, (_, at) =>
      new GossipNode(`node-${at}`, clock).has(`agent-${at}`),
    );
    for (let at = 1; at < chain.length; at++) meet(chain[at - 1] as GossipNode, chain[at] as GossipNode);
    await pass(clock, MINUTE_MS);
    for (const node of chain)
      for (let at = 0; at < chain.length; at++)
        if (`node-${at}` !== node.node) expect(node.where(`agent-${at}`)).toEqual([`ws://node-${at}`]);
    expect(new Set(chain.map(({ gossip }) => gossip.fingerprint())).size).toBe(1);
    const told = chain.map(({ heard }) => heard.get('signed-cards') ?? 0);
    await pass(clock, MINUTE_MS);
    expect(chain.map(({ heard }) => heard.get('signed-cards') ?? 0)).toEqual(told);
    expect(chain.flatMap(({ refused }) => refused)).toEqual([]);
  });

  it('is complete again after sessions that were lost in the middle of a round', async () => {
    const clock = new FakeClock();
    const rome = new GossipNode('rome', clock);
    const oslo = new GossipNode('oslo', clock);
    const agents = Array.from({ length: 900 }, (_, at) => `agent-${at}`);
    oslo.has(...agents);
    const found = () => agents.filter((id) => rome.where(id).length === 1).length;
    const random = seededRandom(7);
    let lost = 0;
    while (found() < agents.length) {
      const ends = meet(rome, oslo);
      for (let turn = Math.floor(random() * 12); turn > 0; turn--)
        await new Promise((resolve) => setImmediate(resolve));
      if (found() === agents.length) break;
      for (const { session } of ends) session.end('it was cut');
      lost += 1;
      if (lost === 40) meet(rome, oslo);
      if (lost >= 40) await pass(clock, MINUTE_MS);
    }
    expect(lost).toBeGreaterThan(0);
    expect(rome.gossip.isBeginning).toBe(false);
    expect(rome.refused).toEqual([]);
  });

  it('takes more than one round where there is much, and is asked for less and less often where it is not wanted', async () => {
    const clock = new FakeClock();
    const rome = new GossipNode('rome', clock);
    const bern = new GossipNode('bern', clock);
    const others = Array.from({ length: 2 }, (_, at) => new GossipNode(`other-${at}`, clock));
    for (const other of others) {
      other.has(...Array.from({ length: 550 }, (_, at) => `${other.node}-${at}`));
      meet(bern, other);
    }
    await pass(clock, MINUTE_MS);
    expect(bern.gossip.size.cards).toBe(1_100);
    meet(rome, bern);
    await pass(clock, SECOND_MS);
    expect(rome.gossip.size.cards).toBeLessThan(1_100);
    await pass(clock, MINUTE_MS);
    expect(rome.gossip.size.cards).toBe(1_100);
    for (const { keys } of others) {
      rome.distrusted.add(keys.publicKey);
      rome.gossip.forget(keys.publicKey);
    }
    const digests = bern.heard.get('card-digest') ?? 0;
    await pass(clock, 2 * MINUTE_MS);
    expect((bern.heard.get('card-digest') ?? 0) - digests).toBeLessThan(30);
  });
});

describe('What a node can say of others that is not so', () => {
  it('is refused and told: forged, altered, old, of somebody else, of this node', async () => {
    const { rome, bern, clock } = await row();
    const tell = await says(bern, rome);
    const carol = new CardNode('carol', clock);
    const before = carol.signed('writer', { bootEpoch: 1 });
    const now = carol.signed('writer', { bootEpoch: 2 });
    expect(await tell(now)).toEqual([]);
    const forged = { ...new CardNode('carol', clock).signed('judge'), publicKey: carol.publicKey };
    const altered = { ...carol.signed('judge', { bootEpoch: 2 }), agentId: 'chief' };
    const own = new CardNode('rome', clock, rome.keys).signed('imp');
    const named = new CardNode('carol', clock).signed('judge', { bootEpoch: 3 });
    const eternal = carol.signed('judge', {
      bootEpoch: 2,
      expiresAtMs: clock.now() + 1_000 * MINUTE_MS,
      issuedAtMs: clock.now(),
    });
    expect(await tell({ ...forged, bootEpoch: 2 })).toEqual(['FORGED']);
    expect(await tell(altered, before, own, named, eternal, { card: 'none' })).toEqual([
      'FORGED',
      'OUTDATED',
      'OWN_NODE',
      'OTHER_KEY',
      'LIVES_TOO_LONG',
      'MALFORMED',
    ]);
    expect(rome.gossip.find({ kind: 'agent', id: 'carol/writer' })).toMatchObject([{ bootEpoch: 2 }]);
    for (const id of ['judge', 'chief', 'imp']) expect(rome.where(id)).toEqual([]);
    // The next of a kind is told after a minute, with how many there were.
    clock.advance(MINUTE_MS);
    await tell(altered);
    expect(rome.refused.at(-1)).toMatchObject([{ code: 'FORGED' }, 1]);
  });

  it('takes the room of 10,000 cards from nobody, and costs a bounded share of signatures', async () => {
    const { rome, bern, clock } = await row();
    const tell = await says(bern, rome);
    const many = Array.from({ length: 100 }, (_, at) => new CardNode(`evil-${at}`, clock)).flatMap((node) =>
      Array.from({ length: 100 }, (_, at) => node.signed(`imp-${at}`)),
    );
    expect(await tell(...many)).toEqual(['TOO_MANY']);
    expect(rome.gossip.size.cards).toBeLessThan(2_100);
    expect(rome.gossip.size.bytes).toBeLessThan(16 * 1_048_576);
    expect(rome.where('writer')).toEqual(['ws://oslo']);
  });

  it('never takes a name from a node in session', async () => {
    const { rome, bern, clock } = await row();
    const tell = await says(bern, rome);
    const stranger = new CardNode('vega', clock);
    await tell(stranger.signed('writer'));
    expect(rome.gossip.find({ kind: 'agent', id: 'vega/writer' })).toHaveLength(1);
    const vega = new GossipNode('vega', clock).has('judge');
    meet(rome, vega);
    await pass(clock, SECOND_MS);
    expect(rome.gossip.find({ kind: 'agent', id: 'vega/writer' })).toEqual([]);
    expect(rome.where('vega/judge')).toEqual(['ws://vega']);
    expect(await tell(stranger.signed('writer', { bootEpoch: 9 }))).toContain('OTHER_KEY');
  });

  it('makes a node work no more often than rounds do', async () => {
    const { rome, bern } = await row();
    const [, end] = meet(rome, bern);
    await turns();
    const answers = bern.heard.get('card-answer') ?? 0;
    for (let at = 0; at < 1_000; at++) {
      end.session.say({ type: 'card-digest', digest: { cards: [] } });
      end.session.say({ type: 'card-fingerprint', fingerprint: `other-${at}` });
      end.session.say({ type: 'card-answer', answer: { cards: [], through: 'z/z' } });
    }
    await turns();
    expect((bern.heard.get('card-answer') ?? 0) - answers).toBeLessThanOrEqual(32);
    expect(bern.heard.get('card-digest') ?? 0).toBeLessThanOrEqual(5);
  });
});

describe('A lookup', () => {
  it('waits for the first round of a session, for two seconds at most', async () => {
    const clock = new FakeClock();
    const rome = new GossipNode('rome', clock);
    const silent = new GossipNode('silent', clock);
    const [end] = meet(rome, silent);
    silent.gossip.close();
    expect(rome.gossip.isBeginning).toBe(true);
    clock.advance(2 * SECOND_MS);
    expect(rome.gossip.isBeginning).toBe(false);
    end.session.end('it is gone');
    expect(rome.roundsOver).toBeGreaterThan(0);
  });
});

describe('An agent whose card cannot be announced', () => {
  it('is told of, and keeps nobody from the others', () => {
    const rome = new GossipNode('rome', new FakeClock());
    rome.has(cardOf('large', { description: 'x'.repeat(70_000) }), 'writer');
    expect(rome.problems).toEqual([expect.stringContaining('the card of large is not announced')]);
    expect(rome.gossip.size.cards).toBe(1);
  });
});

describe('Messages about signed cards', () => {
  it('are read or refused, 5,000 damaged ones too', async () => {
    const node = new CardNode('oslo', new FakeClock());
    const signed: SignedCard = node.signed('writer');
    const sound: readonly PeerMessage[] = [
      { type: 'signed-cards', cards: [signed] },
      { type: 'card-fingerprint', fingerprint: 'x'.repeat(43) },
      {
        type: 'card-digest',
        digest: {
          after: 'a/a',
          through: 'z/z',
          cards: [
            {
              name: 'oslo/writer',
              publicKey: node.publicKey,
              bootEpoch: 1,
              revision: 0,
              issuedAtMs: 1,
              mark: signed.signature.slice(0, 22),
            },
          ],
        },
      },
      { type: 'card-answer', answer: { cards: [signed], through: 'z/z' } },
    ];
    const clock = new FakeClock();
    const rome = new GossipNode('rome', clock);
    const [end] = meet(rome, new GossipNode('bern', clock));
    const text = JSON.stringify(sound);
    const random = seededRandom(3);
    const outcomes = { heard: 0, refused: 0 };
    for (let at = 0; at < 5_000; at++) {
      const cut = Math.floor(random() * text.length);
      const put = '{}[]",:0123456789abcdefnul-'[Math.floor(random() * 27)] as string;
      let value: unknown;
      try {
        value = JSON.parse(text.slice(0, cut) + put + text.slice(cut + 1));
      } catch {
        continue;
      }
      let messages: readonly PeerMessage[];
      try {
        messages = readPeerMessages(value);
      } catch (error) {
        outcomes.refused += 1;
        expect(error).toMatchObject({ code: 'INVALID_ENVELOPE' });
        continue;
      }
      for (const message of messages) rome.hear(message, end.session);
      outcomes.heard += 1;
    }
    expect(outcomes.refused).toBeGreaterThan(0);
    expect(outcomes.heard).toBeGreaterThan(0);
    expect(rome.gossip.size.cards).toBeLessThanOrEqual(1);
  });
});
