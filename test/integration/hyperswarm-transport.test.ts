import { once } from 'node:events';
import DHT, { type SecretStream } from 'hyperdht';
import createTestnet from 'hyperdht/testnet.js';
import Hyperswarm from 'hyperswarm';
import type { Connection, Frame } from 'orrery';
import { hyperSwarm } from 'orrery/hyperswarm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { networkTransportSuite } from '../conformance/network-transport.suite.ts';
import {
  type BareFrame,
  bareCredit,
  bareFrame,
  bareReader,
  GREETING,
} from '../fixtures/peers/bare-frames.ts';
import { rejection, until } from '../fixtures/until.ts';

type Testnet = Awaited<ReturnType<typeof createTestnet>>;
const HOST = '127.0.0.1';

networkTransportSuite('HyperswarmTransport', async () => {
  const testnet = await createTestnet(3);
  const options = { bootstrap: testnet.bootstrap, host: HOST };
  return {
    dialling: hyperSwarm(options),
    listening: hyperSwarm(options),
    process: ['orrery/hyperswarm', 'hyperSwarm', options],
    close: () => testnet.destroy(),
  };
});

describe('a transport over Hyperswarm (N-3.6)', () => {
  let testnet: Testnet;
  let transport: ReturnType<typeof hyperSwarm>;
  const cleanUp: (() => unknown)[] = [];
  beforeEach(async () => {
    testnet = await createTestnet(3);
    transport = hyperSwarm({
      bootstrap: testnet.bootstrap,
      host: HOST,
      maxFrameBytes: 2_048,
      seed: new Uint8Array(32),
    });
  });
  afterEach(async () => {
    for (const clean of cleanUp.splice(0)) await clean();
    await transport.close();
    expect(transport.openEnds).toBe(0);
    await testnet.destroy();
  });

  const bareNode = (): DHT => {
    const node = new DHT({ bootstrap: testnet.bootstrap, host: HOST, firewalled: false, ephemeral: false });
    cleanUp.push(() => node.destroy());
    return node;
  };

  const bareSwarm = (): Hyperswarm => {
    const swarm = new Hyperswarm({ dht: bareNode() });
    cleanUp.push(() => swarm.destroy());
    return swarm;
  };

  /** What a stream that is none of ours is told. */
  const heardBy = (stream: SecretStream): BareFrame[] => {
    const heard: BareFrame[] = [];
    const read = bareReader();
    stream.on('data', (bytes: Buffer) => heard.push(...read(bytes)));
    stream.on('error', () => undefined);
    return heard;
  };

  const listen = async (): Promise<{
    frames: Frame[];
    reasons: string[];
    ends: (Connection & { remoteKey: string | undefined })[];
  }> => {
    const [frames, reasons]: [Frame[], string[]] = [[], []];
    const ends: (Connection & { remoteKey: string | undefined })[] = [];
    await transport.listen((connection) => {
      ends.push(connection);
      connection.onFrame((frame) => {
        frames.push(frame);
        void connection.send(frame).catch(() => undefined);
      });
      connection.onLost((reason) => reasons.push(reason));
    });
    return { frames, reasons, ends };
  };

  const bareClient = (): SecretStream => bareNode().connect(Buffer.from(transport.publicKey, 'hex'));

  it('is understood by a bare program that connects with hyperswarm', async () => {
    const { frames, ends } = await listen();
    const swarm = bareSwarm();
    swarm.joinPeer(Buffer.from(transport.publicKey, 'hex'));
    const [stream] = (await once(swarm, 'connection')) as [SecretStream];
    const heard = heardBy(stream);
    stream.write(Buffer.concat([bareFrame(0, GREETING), bareFrame(0, 'zwölf')]));
    stream.write(bareFrame(1, [0, 255] as unknown as Uint8Array));
    await until('greeting and echoes', () => heard.length === 3);
    expect(frames).toEqual(['zwölf', new Uint8Array([0, 255])]);
    expect(heard.map(({ kind, body }) => [kind, body.toString('hex')])).toEqual([
      [0, Buffer.from(GREETING).toString('hex')],
      [0, Buffer.from('zwölf').toString('hex')],
      [1, '00ff'],
    ]);
    expect(ends[0]?.remoteKey).toBe(Buffer.from(swarm.keyPair.publicKey).toString('hex'));
  });

  it('is understood by a bare program that listens with hyperswarm, and waits for its credit', async () => {
    const swarm = bareSwarm();
    const heard: BareFrame[] = [];
    const streams: SecretStream[] = [];
    swarm.on('connection', (stream: SecretStream) => {
      streams.push(stream);
      const read = bareReader();
      stream.on('error', () => undefined);
      stream.on('data', (bytes: Buffer) => heard.push(...read(bytes)));
      stream.write(Buffer.concat([bareFrame(0, GREETING), bareFrame(0, 'hello')]));
    });
    await swarm.listen();
    const key = Buffer.from(swarm.keyPair.publicKey).toString('hex');
    const connection = await transport.connect(key);
    expect(connection.remoteKey).toBe(key);
    const frames: Frame[] = [];
    connection.onFrame((frame) => frames.push(frame));
    const sends = Array.from({ length: 600 }, () => connection.send(new Uint8Array(2_048)));
    // A window is 1 MiB; the greeting cost 64 and its length, every frame 64 and its own.
    const inWindow = Math.floor((1_048_576 - 64 - GREETING.length) / (2_048 + 64));
    await Promise.all(sends.slice(0, inWindow));
    await until('what the window holds', () => heard.length >= 1 + inWindow);
    expect(connection.bufferedBytes).toBe((600 - inWindow) * 2_048);
    streams[0]?.write(bareCredit(600_000));
    await Promise.all(sends);
    await until('the rest', () => heard.length === 601);
    expect(frames).toEqual(['hello']);
  });

  it.each([
    ['a gigabyte', Buffer.from([0x40, 0, 0, 0, 1, 1]), 'a frame of 1073741824 bytes, at most 2048'],
    ['garbage', Buffer.from('this is no frame'), /^a frame of \d+ bytes|^a frame of the unknown kind/],
  ])('ends the connection of one that sends %s', async (_what, bytes, reason) => {
    const { reasons } = await listen();
    const stream = bareClient();
    heardBy(stream);
    const closed = new Promise((resolve) => stream.on('close', resolve));
    stream.write(bareFrame(0, GREETING));
    const before = process.memoryUsage().arrayBuffers;
    stream.write(bytes);
    await until('its end', () => reasons.length === 1);
    expect(reasons[0]).toMatch(reason);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
    await closed;
  });

  it('takes a stream that ends within a frame as lost', async () => {
    const { frames, reasons } = await listen();
    const stream = bareClient();
    heardBy(stream);
    stream.write(Buffer.concat([bareFrame(0, GREETING), bareFrame(0, 'whole')]));
    stream.write(bareFrame(0, 'half').subarray(0, 7));
    stream.end();
    await until('its end', () => reasons.length === 1);
    expect([frames, reasons]).toEqual([['whole'], ['the other end ended within a frame']]);
  });

  it('tells nobody of a stream that greets otherwise, or not at all', async () => {
    const { ends } = await listen();
    const stream = bareClient();
    heardBy(stream);
    const closed = new Promise((resolve) => stream.on('close', resolve));
    stream.write(bareFrame(0, '/somebody/else/1.0.0'));
    await closed;
    expect(ends).toEqual([]);
    const silent = bareNode();
    const server = silent.createServer((other) => other.on('error', () => undefined));
    const keyPair = DHT.keyPair();
    await server.listen(keyPair);
    const short = hyperSwarm({ bootstrap: testnet.bootstrap, host: HOST, connectTimeoutMs: 100 });
    cleanUp.push(() => short.close());
    const address = Buffer.from(keyPair.publicKey).toString('hex');
    expect(await rejection(short.connect(address))).toEqual({
      code: 'DELIVERY_FAILED',
      message: expect.stringContaining('said nothing for 100 ms'),
    });
    const abort = new AbortController();
    const failed = rejection(transport.connect(address, { signal: abort.signal }));
    abort.abort();
    expect((await failed).code).toBe('CANCELLED');
  });

  it('is found at the same address again when it is made of the same seed', async () => {
    await listen();
    await transport.close();
    const again = hyperSwarm({ bootstrap: testnet.bootstrap, host: HOST, seed: '00'.repeat(32) });
    cleanUp.push(() => again.close());
    const { address } = await again.listen(() => undefined);
    expect(address).toBe(`hyperswarm:${transport.publicKey}`);
    const other = hyperSwarm({ bootstrap: testnet.bootstrap, host: HOST });
    cleanUp.push(() => other.close());
    expect((await other.connect(address)).remoteKey).toBe(transport.publicKey);
  });

  it.each([
    [{ seed: 'short' }, 'hyperSwarm.seed'],
    [{ seed: new Uint8Array(32), keyPair: DHT.keyPair() }, 'hyperSwarm.seed'],
    [{ bootstrap: [7] }, 'hyperSwarm.bootstrap'],
    [{ maxFrameBytes: 0 }, 'hyperSwarm.maxFrameBytes'],
    [{ topic: 'x' }, 'hyperSwarm.topic'],
  ])('refuses %j, naming the field', (options, field) => {
    expect(() => hyperSwarm(options as object)).toThrow(field);
  });
});
