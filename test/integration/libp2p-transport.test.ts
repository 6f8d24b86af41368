import { noise } from '@chainsafe/libp2p-noise';
import { yamux } from '@chainsafe/libp2p-yamux';
import { identify } from '@libp2p/identify';
import { tcp } from '@libp2p/tcp';
import { multiaddr } from '@multiformats/multiaddr';
import { createLibp2p, type Libp2p } from 'libp2p';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Frame } from 'orrery';
import { type CarriedConnection, libp2p } from 'orrery/libp2p';
import { afterEach, describe, expect, it } from 'vitest';
import { networkTransportSuite } from '../conformance/network-transport.suite.ts';
import {
  type BareFrame,
  bareCredit,
  bareFrame,
  bareReader,
  GREETING,
} from '../fixtures/peers/bare-frames.ts';
import { rejection, until } from '../fixtures/until.ts';

networkTransportSuite('Libp2pTransport', async () => ({
  dialling: libp2p(),
  listening: libp2p(),
  process: ['orrery/libp2p', 'libp2p', {}],
}));

type Stream = Awaited<ReturnType<Libp2p['dialProtocol']>>;

describe('a transport over libp2p (N-3.6)', () => {
  const transport = libp2p({ maxFrameBytes: 2_048 });
  const cleanUp: (() => unknown)[] = [];
  afterEach(async () => {
    for (const clean of cleanUp.splice(0)) await clean();
    await transport.close();
    expect([transport.openEnds, transport.isListening]).toEqual([0, false]);
  });

  const bareNode = async (): Promise<Libp2p> => {
    const node = await createLibp2p({
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      services: { identify: identify() },
    });
    cleanUp.push(() => node.stop());
    return node;
  };

  const keyOf = (node: Libp2p): string => Buffer.from(node.peerId.publicKey?.raw ?? []).toString('hex');

  const heardBy = (stream: Stream): BareFrame[] => {
    const heard: BareFrame[] = [];
    const read = bareReader();
    stream.addEventListener('message', ({ data }) => {
      heard.push(...read(data.subarray()));
    });
    return heard;
  };

  const listen = async () => {
    const [frames, reasons, ends]: [Frame[], string[], CarriedConnection[]] = [[], [], []];
    const { address } = await transport.listen((connection) => {
      ends.push(connection);
      connection.onFrame((frame) => {
        frames.push(frame);
        void connection.send(frame).catch(() => undefined);
      });
      connection.onLost((reason) => reasons.push(reason));
    });
    const bareStream = async (node: Libp2p) => node.dialProtocol(multiaddr(address), GREETING);
    return { address, frames, reasons, ends, bareStream };
  };

  it('is understood by a bare node that connects', async () => {
    const { frames, ends, bareStream } = await listen();
    const node = await bareNode();
    const stream = await bareStream(node);
    const heard = heardBy(stream);
    stream.send(bareFrame(0, 'zwölf'));
    stream.send(bareFrame(1, Buffer.from([0, 255])));
    await until('both', () => heard.length === 2);
    expect(frames).toEqual(['zwölf', new Uint8Array([0, 255])]);
    expect(heard.map(({ kind, body }) => [kind, body.toString('hex')])).toEqual([
      [0, Buffer.from('zwölf').toString('hex')],
      [1, '00ff'],
    ]);
    expect(ends[0]?.remoteKey).toBe(keyOf(node));
  });

  it('is understood by a bare node that listens, and waits for its credit', async () => {
    const node = await bareNode();
    const arrived = Promise.withResolvers<Stream>();
    const heard: BareFrame[] = [];
    await node.handle(GREETING, (stream) => {
      const read = bareReader();
      stream.addEventListener('message', ({ data }) => {
        heard.push(...read(data.subarray()));
      });
      stream.send(bareFrame(0, 'hello'));
      arrived.resolve(stream);
    });
    const connection = await transport.connect(String(node.getMultiaddrs()[0]));
    expect(connection.remoteKey).toBe(keyOf(node));
    const frames: Frame[] = [];
    connection.onFrame((frame) => frames.push(frame));
    const sends = Array.from({ length: 600 }, () => connection.send(new Uint8Array(2_048)));
    // A window is 1 MiB; a frame costs 64 and its length.
    const inWindow = Math.floor(1_048_576 / (2_048 + 64));
    await Promise.all(sends.slice(0, inWindow));
    await until('what the window holds', () => heard.length >= inWindow);
    expect(connection.bufferedBytes).toBe((600 - inWindow) * 2_048);
    (await arrived.promise).send(bareCredit(600_000));
    await Promise.all(sends);
    await until('the rest', () => heard.length === 600);
    expect(frames).toEqual(['hello']);
  });

  it.each([
    ['a gigabyte', Buffer.from([0x40, 0, 0, 0, 1, 1]), 'a frame of 1073741824 bytes, at most 2048'],
    ['garbage', Buffer.from('this is no frame'), /^a frame of \d+ bytes|^a frame of the unknown kind/],
    ['credit that nobody used', bareCredit(1), 'more credit than was used'],
  ])('ends the connection of one that sends %s', async (_what, bytes, reason) => {
    const { reasons, bareStream } = await listen();
    const stream = await bareStream(await bareNode());
    const closed = new Promise((resolve) => stream.addEventListener('close', resolve));
    const before = process.memoryUsage().arrayBuffers;
    stream.send(bytes);
    await until('its end', () => reasons.length === 1);
    expect(reasons[0]).toMatch(reason);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
    await closed;
  });

  it('takes a stream that ends within a frame as lost', async () => {
    const { frames, reasons, bareStream } = await listen();
    const stream = await bareStream(await bareNode());
    stream.send(bareFrame(0, 'whole'));
    stream.send(bareFrame(0, 'half').subarray(0, 7));
    await stream.close();
    await until('its end', () => reasons.length === 1);
    expect([frames, reasons]).toEqual([['whole'], ['the other end ended within a frame']]);
  });

  it('refuses an end that is not the peer of its address, and one that speaks no channels', async () => {
    const [node, other] = [await bareNode(), await bareNode()];
    const address = String(node.getMultiaddrs()[0]);
    expect((await rejection(transport.connect(address))).code).toBe('DELIVERY_FAILED');
    const forged = address.replace(String(node.peerId), String(other.peerId));
    expect((await rejection(transport.connect(forged))).code).toBe('DELIVERY_FAILED');
    const nameless = address.replace(/\/p2p\/.*$/, '');
    expect((await rejection(transport.connect(nameless))).message).toContain('/p2p/');
  });

  it('leaves nothing of an attempt that is cancelled, or takes too long, while the other end is silent', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUp.push(() => server.close());
    const sockets: Socket[] = [];
    server.on('connection', (socket) => sockets.push(socket.resume()));
    const { port } = server.address() as AddressInfo;
    const address = `/ip4/127.0.0.1/tcp/${port}/p2p/${(await bareNode()).peerId}`;
    const abort = new AbortController();
    const failed = rejection(transport.connect(address, { signal: abort.signal }));
    await until('the attempt', () => sockets.length === 1);
    abort.abort();
    expect((await failed).code).toBe('CANCELLED');
    await until('its end', () => sockets[0]?.closed);
    const short = libp2p({ connectTimeoutMs: 100, listen: [] });
    cleanUp.push(() => short.close());
    expect(await rejection(short.connect(address))).toEqual({
      code: 'DELIVERY_FAILED',
      message: expect.stringContaining('longer than 100 ms'),
    });
  });

  it('has the same peer id again when it is made of the same seed', async () => {
    const ids: (string | undefined)[] = [];
    for (const seed of ['07'.repeat(32), new Uint8Array(32).fill(7)]) {
      const one = libp2p({ seed });
      const { address } = await one.listen(() => undefined);
      ids.push(address.split('/p2p/')[1]);
      await one.close();
    }
    expect(ids[0]).toMatch(/^12D3Koo/);
    expect(ids[1]).toBe(ids[0]);
  });

  it('says where it cannot listen', async () => {
    const none = libp2p({ listen: [] });
    cleanUp.push(() => none.close());
    expect((await rejection(none.listen(() => undefined))).code).toBe('INVALID_OPTIONS');
    const { address } = await listen();
    const taken = libp2p({ listen: [address.replace(/\/p2p\/.*$/, '')] });
    cleanUp.push(() => taken.close());
    expect(await rejection(taken.listen(() => undefined))).toEqual({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('libp2p.listen'),
    });
  });

  it.each([
    [{ seed: 'short' }, 'libp2p.seed'],
    [{ listen: ['127.0.0.1:7'] }, 'libp2p.listen'],
    [{ maxFrameBytes: 0 }, 'libp2p.maxFrameBytes'],
    [{ topic: 'x' }, 'libp2p.topic'],
  ])('refuses %j, naming the field', (options, field) => {
    expect(() => libp2p(options as object)).toThrow(field);
  });
});
