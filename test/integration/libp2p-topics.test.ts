import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { noise } from '@chainsafe/libp2p-noise';
import { yamux } from '@chainsafe/libp2p-yamux';
import { type GossipSub, gossipsub, StrictNoSign, StrictSign } from '@libp2p/gossipsub';
import { identify } from '@libp2p/identify';
import { kadDHT, passthroughMapper } from '@libp2p/kad-dht';
import { ping } from '@libp2p/ping';
import { tcp } from '@libp2p/tcp';
import { multiaddr } from '@multiformats/multiaddr';
import { createLibp2p, type Libp2p } from 'libp2p';
import { CID } from 'multiformats/cid';
import { create } from 'multiformats/hashes/digest';
import { libp2p } from 'orrery/libp2p';
import { afterEach, describe, expect, it } from 'vitest';
import { topicTransportSuite } from '../conformance/topic-transport.suite.ts';
import { bareReader, GREETING } from '../fixtures/peers/bare-frames.ts';
import { hasMulticast } from '../fixtures/peers/multicast.ts';
import { rejection, until } from '../fixtures/until.ts';

/** The topic `work`, as docs/internals/channels.md says. */
const NAME = 'orrery/topic/1.0.0/work';
const TOPIC = CID.createV1(0x55, create(0x12, createHash('sha256').update(NAME).digest()));
const MAX_MESSAGE_BYTES = 65_536;

const MAY_CALL_ALL = await hasMulticast();

type Options = Parameters<typeof libp2p>[0];
type Services = NonNullable<NonNullable<Parameters<typeof createLibp2p>[0]>['services']>;
type PeerId = Libp2p['peerId'];

/** What a bare node's DHT keeps for others. */
interface ProviderRecords {
  readonly providers: { addProvider(cid: CID, peer: PeerId): Promise<void> };
}

topicTransportSuite(
  'Libp2pTransport',
  async () => {
    const first = libp2p({ topics: true });
    const { address } = await first.listen(() => undefined);
    const options = { bootstrap: [address] };
    return {
      make: (seed) => libp2p({ ...options, ...(seed === undefined ? {} : { seed }) }),
      process: (seed) => ['orrery/libp2p', 'libp2p', { ...options, seed }],
      close: () => first.close(),
    };
  },
  (address) => address.slice(address.indexOf('/p2p/')),
);

describe('a topic over libp2p (N-3.6)', () => {
  const cleanUp: (() => unknown)[] = [];
  afterEach(async () => {
    await Promise.all(cleanUp.splice(0).map((clean) => clean()));
  });

  const listening = async (options: Options) => {
    const end = libp2p(options);
    cleanUp.push(() => end.close());
    const { address } = await end.listen((connection) => {
      connection.onFrame((frame) => void connection.send(frame).catch(() => undefined));
    });
    return { end, address, id: address.slice(address.indexOf('/p2p/')) };
  };

  const joined = async (options: Options, topic = 'work') => {
    const one = await listening(options);
    const found: string[] = [];
    const gossip = await one.end.join(topic, (address) => found.push(address));
    return { ...one, found, topic: gossip };
  };

  const bareNode = async (services: Services): Promise<Libp2p> => {
    const node = await createLibp2p({
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      services: { identify: identify(), ...services },
    });
    cleanUp.push(() => node.stop());
    return node;
  };

  const dht = (): Services[string] => {
    const make = kadDHT({
      protocol: '/orrery/kad/1.0.0',
      clientMode: false,
      peerInfoMapper: passthroughMapper,
      allowQueryWithZeroPeers: true,
    });
    // That it needs a ping is seen to by libp2p, not by the types.
    return make as unknown as Services[string];
  };

  const addressIn = (node: Libp2p): string => String(node.getMultiaddrs()[0]);

  it('is the one in which a bare node of the DHT is found, and finds this end', async () => {
    const node = await bareNode({ ping: ping(), dht: dht() });
    const heard: string[] = [];
    await node.handle(GREETING, (stream) => {
      const read = bareReader();
      stream.addEventListener('message', ({ data }) => {
        heard.push(...read(data.subarray()).map(({ body }) => body.toString()));
      });
    });
    await node.contentRouting.provide(TOPIC);
    const one = await joined({ bootstrap: [addressIn(node)] });
    await until('the node', () => one.found.length > 0);
    expect(one.found).toEqual([`/p2p/${node.peerId.toString()}`]);
    const connection = await one.end.connect(one.found[0] as string);
    await connection.send('found you');
    await until('the frame', () => heard.length === 1);
    const providers = await until('this end', async () => {
      const ids: string[] = [];
      for await (const { id } of node.contentRouting.findProviders(TOPIC)) ids.push(`/p2p/${id.toString()}`);
      return ids.includes(one.id) && ids;
    });
    expect([heard, providers.length]).toEqual([['found you'], 2]);
  });

  it('is the one in which a bare node that gossips is found, lost when it leaves, and found again', async () => {
    const one = await joined({ topics: true });
    const node = await bareNode({ gossip: gossipsub() });
    const gossip = node.services['gossip'] as unknown as GossipSub;
    await node.dial(multiaddr(one.address));
    gossip.subscribe(NAME);
    const id = `/p2p/${node.peerId.toString()}`;
    await until('the node', () => one.found.length === 1);
    await until('this end', () =>
      gossip.getSubscribers(NAME).some((peer) => one.id === `/p2p/${peer.toString()}`),
    );
    gossip.unsubscribe(NAME);
    gossip.subscribe(NAME);
    await until('the node again', () => one.found.length === 2);
    expect(one.found).toEqual([id, id]);
  });

  it('carries signed messages of bounded size, and nothing else', async () => {
    const one = await joined({ topics: true });
    const other = await joined({ bootstrap: [one.address] });
    await until('both', () => one.found.length === 1 && other.found.length === 1);
    const bare = async (policy: typeof StrictSign | typeof StrictNoSign): Promise<GossipSub> => {
      const settings = { globalSignaturePolicy: policy, msgIdFn: messageId, fallbackToFloodsub: false };
      const node = await bareNode({ gossip: gossipsub(settings) });
      const gossip = node.services['gossip'] as unknown as GossipSub;
      gossip.subscribe(NAME);
      await node.dial(multiaddr(one.address));
      await until('this end', () => gossip.getSubscribers(NAME).length > 0);
      return gossip;
    };
    const messages: [string, string][] = [];
    const stop = one.topic.onMessage((bytes, from) =>
      messages.push([Buffer.from(bytes).toString().slice(0, 20), from]),
    );
    const unsigned = await bare(StrictNoSign);
    await unsigned.publish(NAME, Buffer.from('unsigned'));
    const signed = await bare(StrictSign);
    await signed.publish(NAME, Buffer.alloc(MAX_MESSAGE_BYTES + 1, 'x'));
    await signed.publish(NAME, Buffer.from('small'));
    await until('the small one', () => messages.length > 0);
    await until('this end to be heard', async () => (await other.topic.publish(Buffer.from('card'))) > 0);
    await until('its message', () => messages.some(([text]) => text === 'card'));
    expect(messages.map(([text]) => text)).toEqual(['small', 'card']);
    expect(messages[1]?.[1]).toBe(other.id);
    expect(await rejection(one.topic.publish(new Uint8Array(MAX_MESSAGE_BYTES + 1)))).toEqual({
      code: 'INVALID_OPTIONS',
      message: 'bytes is 65537, expected at most 65536 bytes',
    });
    stop();
    await other.topic.publish(new Uint8Array(MAX_MESSAGE_BYTES));
    await one.topic.leave();
    expect((await rejection(one.topic.publish(new Uint8Array(1)))).code).toBe('INVALID_OPTIONS');
    expect(messages).toHaveLength(2);
  });

  it('tells of nobody who has a record and cannot be reached, however many they are', async () => {
    const node = await bareNode({ ping: ping(), dht: dht() });
    let calls = 0;
    const server = createServer((socket) => {
      calls += 1;
      socket.destroy();
    });
    cleanUp.push(() => server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const { providers } = node.services['dht'] as unknown as ProviderRecords;
    for (let index = 0; index < 100; index++) {
      const { peerId } = await createLibp2p({ start: false });
      await node.peerStore.merge(peerId, { multiaddrs: [multiaddr(`/ip4/127.0.0.1/tcp/${port}`)] });
      await providers.addProvider(TOPIC, peerId);
    }
    const one = await joined({ bootstrap: [addressIn(node)] });
    const other = await joined({ bootstrap: [addressIn(node), one.address] });
    await one.end.connect(other.address);
    await until('each other', () => one.found.length === 1 && other.found.length === 1);
    await until('many calls', () => calls > 50);
    expect([one.found, other.found]).toEqual([[other.id], [one.id]]);
  });

  it('says what is wrong while no end of the DHT answers, and finds others once one does', async () => {
    const first = await listening({ topics: true, seed: '0b'.repeat(32) });
    await first.end.close();
    const one = await joined({ bootstrap: [first.address] });
    expect(one.topic.trouble).toMatch(/^Nothing can be reached at .*no end of the DHT answers$/);
    const port = first.address.split('/')[4];
    await listening({ topics: true, seed: '0b'.repeat(32), listen: [`/ip4/127.0.0.1/tcp/${port}`] });
    const other = await joined({ bootstrap: [first.address] });
    await until('each other', () => one.found.length === 1 && other.found.length === 1);
    expect([one.found, one.topic.trouble]).toEqual([[other.id], undefined]);
  });

  it('is joined by an end that was made for it only', async () => {
    const { end } = await listening({});
    expect([end.canJoin, libp2p({ topics: true }).canJoin, libp2p({ mdns: true }).canJoin]).toEqual([
      false,
      true,
      true,
    ]);
    expect((await rejection(end.join('work', () => undefined))).message).toMatch(
      /^libp2p.topics is undefined, expected true/,
    );
    expect(() => libp2p({ bootstrap: ['/ip4/127.0.0.1/tcp/1'] })).toThrow(/^libp2p.bootstrap\[0\] is/);
  });

  it.skipIf(!MAY_CALL_ALL)('is found in one network by multicast, without an end that all know', async () => {
    // Others of this network may be asked at the same time.
    const join = () => joined({ mdns: true }, `work-${process.pid}`);
    const ends = [await join(), await join(), await join()];
    await until('all of them', () => ends.every(({ found }) => found.length === 2));
    for (const { id, found } of ends)
      expect(found.toSorted()).toEqual(
        ends.flatMap((other) => (other.id === id ? [] : [other.id])).toSorted(),
      );
    const [one, other] = ends;
    const connection = await one?.end.connect(other?.id ?? '');
    const answer = new Promise((resolve) => connection?.onFrame(resolve));
    await connection?.send('near?');
    expect(await answer).toBe('near?');
  });
});

/** Messages without a sender have no number to be told apart by. */
const messageId = (message: { readonly data: Uint8Array }): Uint8Array =>
  createHash('sha256').update(message.data).digest();
