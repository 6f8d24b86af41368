import { noise } from '@chainsafe/libp2p-noise';
import { yamux } from '@chainsafe/libp2p-yamux';
import {
  circuitRelayServer,
  circuitRelayTransport,
  RELAY_V2_HOP_CODEC,
  RELAY_V2_STOP_CODEC,
} from '@libp2p/circuit-relay-v2';
import { identify } from '@libp2p/identify';
import { tcp } from '@libp2p/tcp';
import { multiaddr } from '@multiformats/multiaddr';
import { createLibp2p, type Libp2p } from 'libp2p';
import type { Frame } from 'orrery';
import { type CarriedConnection, libp2p, type Libp2pOptions, type Libp2pTransport } from 'orrery/libp2p';
import { afterEach, describe, expect, it } from 'vitest';
import { rejection, until } from '../fixtures/until.ts';

describe('a relay of libp2p (N-3.6)', () => {
  const cleanUp: (() => unknown)[] = [];
  afterEach(async () => {
    for (const clean of cleanUp.splice(0).reverse()) await clean();
  });

  const transportOf = (options: Libp2pOptions): Libp2pTransport => {
    const transport = libp2p(options);
    cleanUp.push(() => transport.close());
    return transport;
  };
  const listenAt = async (options: Libp2pOptions): Promise<string> => {
    const { address } = await transportOf(options).listen((connection) => {
      connection.onFrame((frame) => void connection.send(frame).catch(() => undefined));
    });
    return address;
  };
  const placeAt = (relay: string): Libp2pOptions => ({ listen: [`${relay}/p2p-circuit`] });
  const echo = (connection: CarriedConnection, frame: Frame): Promise<Frame | string> =>
    new Promise((resolve) => {
      connection.onFrame(resolve);
      connection.onLost((reason) => resolve(`lost: ${reason}`));
      void connection.send(frame).catch(() => undefined);
    });
  const bareNode = async (isRelay: boolean): Promise<Libp2p> => {
    const node = await createLibp2p({
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
      transports: [tcp(), circuitRelayTransport()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      services: { identify: identify(), ...(isRelay ? { relay: circuitRelayServer() } : {}) },
    });
    cleanUp.push(() => node.stop());
    return node;
  };
  const addressOf = (node: Libp2p): string => String(node.getMultiaddrs()[0]);

  it('of somebody else carries frames within its limits; a connection that ends leaves nothing there', async () => {
    const relay = await bareNode(true);
    const carried = (): number =>
      relay
        .getConnections()
        .flatMap(({ streams }) => streams)
        .filter(({ protocol }) => protocol === RELAY_V2_STOP_CODEC).length;
    const address = await listenAt(placeAt(addressOf(relay)));
    const dialling = transportOf({ listen: [] });
    const [first, second] = [await dialling.connect(address), await dialling.connect(address)];
    expect(await Promise.all([echo(first, 'one'), echo(second, 'two')])).toEqual(['one', 'two']);
    await first.close();
    expect(await echo(second, 'three')).toBe('three');
    await until('the end of the first', () => carried() === 1);
    await second.close();
    await until('its end', () => carried() === 0);
  });

  it('cuts a connection that has carried what it may; the next one may carry as much', async () => {
    const address = await listenAt(placeAt(await listenAt({ relay: { maxBytes: 65_536 } })));
    const dialling = transportOf({ listen: [] });
    for (let nth = 1; nth <= 2; nth++) {
      const connection = await dialling.connect(address);
      expect(await echo(connection, new Uint8Array(10_000))).toHaveLength(10_000);
      expect(await echo(connection, new Uint8Array(60_000))).toMatch(/^lost: /);
    }
  });

  it('cuts a connection that lasts longer than it may', async () => {
    const address = await listenAt(placeAt(await listenAt({ relay: { maxDurationMs: 2_000 } })));
    const connection = await transportOf({ listen: [] }).connect(address);
    expect(await new Promise((resolve) => connection.onLost(resolve))).toEqual(expect.any(String));
  });

  it('that was away has the same ends again', async () => {
    const seed = '0b'.repeat(32);
    const first = transportOf({ seed, relay: {} });
    const { address: relay } = await first.listen(() => undefined);
    const address = await listenAt(placeAt(relay));
    const dialling = transportOf({ listen: [] });
    expect(await echo(await dialling.connect(address), 'before')).toBe('before');
    await first.close();
    expect((await rejection(dialling.connect(address))).code).toBe('DELIVERY_FAILED');
    await listenAt({ seed, listen: [relay.replace(/\/p2p\/.*$/, '')], relay: {} });
    const again = await until('its place', () => dialling.connect(address).catch(() => undefined));
    expect(await echo(again, 'after')).toBe('after');
  });

  it('gives a place to those alone that it knows, where it says whom, and to nobody unless it is told to be one', async () => {
    const known = await bareNode(false);
    const relay = await listenAt({ relay: { peers: [String(known.peerId)] } });
    for (const at of [relay, await listenAt({})]) {
      const stranger = transportOf(placeAt(at));
      expect(await rejection(stranger.listen(() => undefined))).toEqual({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining('libp2p.listen'),
      });
    }
    const reservation = await known.dialProtocol(multiaddr(relay), RELAY_V2_HOP_CODEC);
    const answer = new Promise<Uint8Array>((resolve) =>
      reservation.addEventListener('message', ({ data }) => resolve(data.subarray())),
    );
    // A length, then: type RESERVE.
    reservation.send(Uint8Array.from([2, 0x08, 0]));
    // A length of two bytes, then: type STATUS.
    expect([...(await answer)].slice(2, 4)).toEqual([0x08, 2]);
  });

  it('is nobody who was not chosen: what another peer offers is not taken, and that peer is asked for no place', async () => {
    const address = await listenAt(placeAt(await listenAt({ relay: {} })));
    const direct = await listenAt({});
    for (const target of [direct, address]) {
      const other = await bareNode(false);
      let asked = 0;
      await other.handle(RELAY_V2_HOP_CODEC, () => {
        asked++;
      });
      const connection = await other.dial(multiaddr(target));
      const offer = await connection.newStream(RELAY_V2_STOP_CODEC, { runOnLimitedConnection: true });
      await until('its end', () => offer.status !== 'open');
      expect(asked).toBe(0);
    }
  });

  it.each([
    [{ relay: { maxBytes: 0 } }, 'libp2p.relay.maxBytes'],
    [{ relay: { places: 3 } }, 'libp2p.relay.places'],
    [{ listen: ['/ip4/127.0.0.1/tcp/7/p2p-circuit'] }, 'libp2p.listen'],
  ])('refuses %j, naming the field', (options, field) => {
    expect(() => libp2p(options as object)).toThrow(field);
  });
});
