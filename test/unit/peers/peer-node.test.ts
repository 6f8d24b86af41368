import { describe, expect, it } from 'vitest';
import type { A2AChannel } from '../../../runtime/channels/a2a-channel.ts';
import { ChannelManager } from '../../../runtime/channels/channel-manager.ts';
import { channelSigner } from '../../../runtime/channels/channel-proof.ts';
import type { PeerMessage } from '../../../runtime/peers/peer-message.ts';
import { PeerNode, type PeerNodeUser } from '../../../runtime/peers/peer-node.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import { type SigningKeyPair, signingKeyPair } from '../../../runtime/protocol/signing.ts';
import { Trust } from '../../../runtime/peers/trust.ts';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { LocalNetwork } from '../../../transports/local/local-network.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const trust = (entry: object): Trust => parseOptions(Trust, entry, 'trust.0');

/** Keys by which the first says which channel is used, and not the second. */
function inOrder(): readonly [SigningKeyPair, SigningKeyPair] {
  const [one, other] = [signingKeyPair(), signingKeyPair()];
  return one.publicKey < other.publicKey ? [one, other] : [other, one];
}

/** The node `oslo`, and others that say what they like. */
async function nodeWith({
  keys,
  trusts,
}: {
  readonly keys: SigningKeyPair;
  readonly trusts: readonly object[];
}) {
  const clock = new FakeClock();
  const seams = { ...systemSeams(), clock };
  const network = new LocalNetwork();
  const told: string[] = [];
  const user: PeerNodeUser = {
    cards: () => [],
    serve: (_request, _session, { node, identity }) => {
      told.push(`${node} asks, tier ${identity.trust.tier}`);
      return { pull: () => undefined, abort: () => undefined };
    },
    onCards: (_cards, { node }) => told.push(`${node} has cards`),
    onUsed: (_session, { node, identity }) => told.push(`${node} is used, tier ${identity.trust.tier}`),
    onGone: () => undefined,
    onCardMessage: () => undefined,
    onTerms: () => undefined,
    onFinding: () => undefined,
    onFailed: () => undefined,
    onStatus: () => undefined,
    onSessionOver: () => undefined,
    onCut: () => undefined,
  };
  const node = new PeerNode({
    self: { node: 'oslo', keys, trust: trusts.map(trust), revoked: [], epoch: 1, salt: 'salt' },
    network: { transports: [network.transport('oslo')], addresses: [], dial: [], topics: [], channel: {} },
    seams,
    user,
    log: () => undefined,
  });
  await node.open();
  /** Time for what is said to arrive. */
  const soon = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) {
      await clock.advanceAsync(1);
      await new Promise(setImmediate);
    }
  };
  const open = async (own: SigningKeyPair, name: string): Promise<Speaker> => {
    const card = {
      ...{ id: 'system/peers', name, version: '1.0.0', description: '', tier: 3 as const, protocols: [] },
      ...{ endpoints: [], capabilities: [], revision: 0, origin: 'local' as const, lastSeenAt: 1 },
    };
    const manager = new ChannelManager({
      transports: [network.transport()],
      hosts: () => true,
      endpointsOf: () => [{ transport: 'local', address: 'oslo' }],
      proofs: 'required',
      signer: () => channelSigner(card, own),
      seams,
    });
    const opening = manager.openChannel('system/peers', 'system/peers');
    opening.catch(() => undefined);
    await soon();
    return speaker(await opening, soon);
  };
  return { node, told, open, soon };
}

interface Speaker {
  readonly channel: A2AChannel;
  say(...messages: readonly PeerMessage[]): Promise<void>;
}

function speaker(channel: A2AChannel, soon: () => Promise<void>): Speaker {
  channel.onMessage(() => undefined);
  let sent = 0;
  const say = async (...messages: readonly PeerMessage[]): Promise<void> => {
    const sending = channel.send({
      ...{ id: `said-${++sent}`, schemaVersion: 1, sender: 'system/peers', recipient: 'system/peers' },
      ...{ type: 'notification', timestamp: 1, payload: messages },
    });
    sending.catch(() => undefined);
    await soon();
  };
  return { channel, say };
}

const introduction = (node: string, epoch = 1): PeerMessage => ({
  type: 'node',
  version: 1,
  node,
  epoch,
  maxOpen: 100,
});

const request: PeerMessage = {
  type: 'request',
  n: 0,
  wants: 'outcome',
  envelope: {
    ...{ id: 'e', schemaVersion: 1, sender: 'rome/mars', recipient: 'oslo/venus' },
    ...{ type: 'request', timestamp: 1, payload: 1 },
  },
};

describe('A node that is judged otherwise, or revoked (C-31)', () => {
  const [rome, oslo] = inOrder();

  it('loses the channels that it holds beside the one in use, too', async () => {
    const { node, told, open, soon } = await nodeWith({
      keys: oslo,
      trusts: [{ key: rome.publicKey, tier: 1 }],
    });
    const [inUse, spare] = [await open(rome, 'rome'), await open(rome, 'rome')];
    await inUse.say(introduction('rome'), { type: 'use' });
    await spare.say(introduction('rome'));
    node.trust(trust({ key: rome.publicKey, tier: 3 }));
    await soon();
    await spare.say({ type: 'use' }, request);
    expect(told).toEqual(['rome is used, tier 1']);
    expect([inUse, spare].map(({ channel }) => channel.status)).toEqual(['closed', 'closed']);
  });

  it('loses a channel of which is not said yet whether it is used', async () => {
    const { node, open, soon } = await nodeWith({ keys: oslo, trusts: [{ key: rome.publicKey, tier: 1 }] });
    const { channel, say } = await open(rome, 'rome');
    await say(introduction('rome'));
    node.trust(trust({ key: rome.publicKey, tier: 3 }));
    await soon();
    expect(channel.status).toBe('closed');
    const again = await open(rome, 'rome');
    await again.say(introduction('rome'), { type: 'use' });
    expect(node.peer('rome')).toMatchObject({ status: 'up', identity: { trust: { tier: 3 } } });
  });

  it('does not come back by its former key when its next one has come', async () => {
    const next = signingKeyPair();
    const entries = [rome, next].map(({ publicKey: key }) => ({ key, node: 'rome', tier: 1 }));
    const { node, told, open } = await nodeWith({ keys: signingKeyPairAbove(rome, next), trusts: entries });
    const [former, spare, later] = [
      await open(rome, 'rome'),
      await open(rome, 'rome'),
      await open(next, 'rome'),
    ];
    await former.say(introduction('rome'), { type: 'use' });
    await spare.say(introduction('rome'));
    await later.say(introduction('rome', 2), { type: 'use' });
    await spare.say({ type: 'use' }, request);
    expect(told).toEqual(['rome is used, tier 1', 'rome is used, tier 1']);
    expect([former, spare, later].map(({ channel }) => channel.status)).toEqual(['closed', 'closed', 'open']);
    expect(node.peer('rome')).toMatchObject({ status: 'up', identity: { publicKey: next.publicKey } });
  });
});

describe('Who was let in before its name was given to another key (C-31)', () => {
  const [other, oslo] = inOrder();

  it('does not take the name', async () => {
    const owner = signingKeyPair();
    const { node, told, open } = await nodeWith({ keys: oslo, trusts: [{ key: '*' }] });
    const { channel, say } = await open(other, 'rome');
    node.trust(trust({ key: owner.publicKey, node: 'rome' }));
    await say(introduction('rome'), { type: 'use' });
    expect(told).toEqual([]);
    expect(channel.status).toBe('closed');
    expect(node.grantOf('rome', owner.publicKey)).toMatchObject({ node: 'rome' });
  });

  it('does not come under a name that its own entry does not give it', async () => {
    const { node, told, open } = await nodeWith({ keys: oslo, trusts: [{ key: '*' }] });
    const { channel, say } = await open(other, 'rome');
    node.trust(trust({ key: other.publicKey, node: 'bern' }));
    await say(introduction('rome'), { type: 'use' });
    expect(told).toEqual([]);
    expect(channel.status).toBe('closed');
  });
});

/** Keys of a node that lets those who have the others say which channel is used. */
function signingKeyPairAbove(...others: readonly SigningKeyPair[]): SigningKeyPair {
  for (;;) {
    const keys = signingKeyPair();
    if (others.every(({ publicKey }) => publicKey < keys.publicKey)) return keys;
  }
}
