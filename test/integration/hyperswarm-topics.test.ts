import { createHash } from 'node:crypto';
import DHT, { type SecretStream } from 'hyperdht';
import createTestnet from 'hyperdht/testnet.js';
import Hyperswarm from 'hyperswarm';
import { hyperSwarm } from 'orrery/hyperswarm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { topicTransportSuite } from '../conformance/topic-transport.suite.ts';
import { bareFrame, bareReader, GREETING } from '../fixtures/peers/bare-frames.ts';
import { rejection, until } from '../fixtures/until.ts';

const HOST = '127.0.0.1';
/** The topic `work`, as docs/internals/channels.md says. */
const KEY = createHash('sha256').update('orrery/topic/1.0.0/work').digest();

const addressOf = (publicKey: Uint8Array): string => `hyperswarm:${Buffer.from(publicKey).toString('hex')}`;

/** What a node of the DHT answers a lookup with: these keys, without relays. */
const answer = (keys: readonly Uint8Array[]): Buffer =>
  Buffer.concat([
    Buffer.from([keys.length]),
    ...keys.map((key) => Buffer.concat([key, Buffer.from([0])])),
    Buffer.from([0]),
  ]);

topicTransportSuite(
  'HyperswarmTransport',
  async () => {
    const testnet = await createTestnet(3);
    const options = { bootstrap: testnet.bootstrap, host: HOST };
    return {
      make: (seed) => hyperSwarm({ ...options, ...(seed === undefined ? {} : { seed }) }),
      process: (seed) => ['orrery/hyperswarm', 'hyperSwarm', { ...options, seed }],
      close: () => testnet.destroy(),
    };
  },
  (address) => address,
);

describe('a topic in the DHT of Hyperswarm (N-3.6)', () => {
  let testnet: Awaited<ReturnType<typeof createTestnet>>;
  const cleanUp: (() => unknown)[] = [];
  beforeEach(async () => {
    testnet = await createTestnet(4);
  });
  afterEach(async () => {
    await Promise.all(cleanUp.splice(0).map((clean) => clean()));
    await testnet.destroy();
  });

  const end = (options: { maxFound?: number } = {}) => {
    const made = hyperSwarm({ bootstrap: testnet.bootstrap, host: HOST, ...options });
    cleanUp.push(() => made.close());
    return made;
  };

  /** What the nodes of the DHT keep; the first one of all keeps nothing. */
  const recordsOfNodes = () => testnet.nodes.flatMap(({ _persistent }) => _persistent ?? []);

  const bareSwarm = (): Hyperswarm => {
    const dht = new DHT({ bootstrap: testnet.bootstrap, host: HOST, firewalled: false, ephemeral: false });
    const swarm = new Hyperswarm({ dht });
    cleanUp.push(() => swarm.destroy());
    return swarm;
  };

  it('is the one in which a bare program of hyperswarm finds this end', async () => {
    const transport = end();
    const frames: unknown[] = [];
    await transport.listen((connection) => void connection.onFrame((frame) => frames.push(frame)));
    await transport.join('work', () => undefined);
    const swarm = bareSwarm();
    swarm.on('connection', (stream: SecretStream) => {
      stream.on('error', () => undefined);
      stream.on('data', () => undefined);
      stream.write(Buffer.concat([bareFrame(0, GREETING), bareFrame(0, 'found you')]));
    });
    swarm.join(KEY, { client: true, server: false });
    await until('a frame', () => frames.length === 1);
    expect(frames).toEqual(['found you']);
  });

  it('is the one in which this end finds a bare program of hyperswarm', async () => {
    const swarm = bareSwarm();
    const heard: string[] = [];
    swarm.on('connection', (stream: SecretStream) => {
      const read = bareReader();
      stream.on('error', () => undefined);
      stream.on('data', (bytes: Buffer) => heard.push(...read(bytes).map(({ body }) => body.toString())));
      stream.write(bareFrame(0, GREETING));
    });
    await swarm.join(KEY, { client: false, server: true }).flushed();
    const transport = end();
    await transport.listen(() => undefined);
    const found: string[] = [];
    await transport.join('work', (address) => found.push(address));
    await until('the program', () => found.length === 1);
    expect(found).toEqual([addressOf(swarm.keyPair.publicKey)]);
    const connection = await transport.connect(found[0] as string);
    await connection.send('found you');
    await until('the frame', () => heard.length === 2);
    expect(heard).toEqual([GREETING, 'found you']);
  });

  it('stays as large as it may, whatever nodes of the DHT answer', async () => {
    const bad = [new Uint8Array(32), new Uint8Array(32).fill(0xff)];
    let made = 0;
    const fake = (): Buffer => createHash('sha256').update(`${made++}`).digest();
    for (const records of recordsOfNodes())
      records.onlookup = (request) => request.reply(answer([...bad, ...Array.from({ length: 28 }, fake)]));
    const transport = end({ maxFound: 5 });
    await transport.listen(() => undefined);
    const found: string[] = [];
    const topic = await transport.join('work', (address) => found.push(address));
    await until('many keys', () => made > 400);
    expect(found).toHaveLength(5);
    expect(found).toEqual(expect.arrayContaining(bad.map(addressOf)));
    expect([new Set(found).size, topic.trouble]).toEqual([5, undefined]);
    for (const address of found.slice(0, 3))
      expect((await rejection(transport.connect(address))).code).toBe('DELIVERY_FAILED');
  });

  it('finds whom one node knows, although the others answer garbage', async () => {
    const other = end();
    await other.listen(() => undefined);
    await other.join('work', () => undefined);
    for (const [index, records] of recordsOfNodes().slice(1).entries())
      records.onlookup = (request) => {
        request.reply(index === 0 ? Buffer.from([0xff, 0xff, 0xff]) : Buffer.from([9, 1, 2, 3]));
      };
    const transport = end();
    await transport.listen(() => undefined);
    const found: string[] = [];
    await transport.join('work', (address) => found.push(address));
    await until('the other', () => found.length === 1);
    expect(found).toEqual([`hyperswarm:${other.publicKey}`]);
  });
});
