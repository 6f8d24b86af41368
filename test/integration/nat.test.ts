import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Host,
  LEFT_ROUTER_ADDRESS,
  type Nat,
  NatNetwork,
  PUBLIC_ADDRESS,
  whyNoNatNetwork,
} from '../fixtures/peers/nat-network.ts';
import { until } from '../fixtures/until.ts';

/** What came of a connection: `test/fixtures/peers/dialler.ts`. */
interface Outcome {
  readonly bytesBack?: number;
  readonly code?: string;
  readonly message?: string;
}
const THROUGH: Outcome = { bytesBack: 32_768 };
const LIBP2P = ['orrery/libp2p', 'libp2p'];
const HYPERSWARM = ['orrery/hyperswarm', 'hyperSwarm'];
const anyPort = (host: string): object => ({ listen: [`/ip4/${host}/tcp/0`] });

describe.skipIf(whyNoNatNetwork() !== undefined)('behind a NAT (N-3.6)', () => {
  let network: NatNetwork;
  const listenAt = (host: Host, transport: readonly string[], options: object): Promise<string> =>
    network.run(host, 'listener.ts', ...transport, JSON.stringify(options));
  const dialFrom = async (
    host: Host,
    transport: readonly string[],
    options: object,
    address: string,
  ): Promise<Outcome> =>
    JSON.parse(await network.run(host, 'dialler.ts', ...transport, JSON.stringify(options), address));
  afterEach(() => network.close());

  describe('libp2p', () => {
    beforeEach(async () => {
      network = await NatNetwork.start('keeps ports', 'random ports');
    });

    it('connects to an end that is not behind one', async () => {
      const address = await listenAt('open', LIBP2P, anyPort('0.0.0.0'));
      expect(address).toMatch(/^\/ip4\/45\.0\.0\.20\/tcp\//);
      expect(await dialFrom('left', LIBP2P, {}, address)).toEqual(THROUGH);
      expect(await dialFrom('right', LIBP2P, {}, address)).toEqual(THROUGH);
    });

    it('is not connected to from outside, and is over a relay that it has a place at', async () => {
      const options = { connectTimeoutMs: 2_000 };
      const inside = await listenAt('left', LIBP2P, anyPort('0.0.0.0'));
      const seen = inside.replace(/^\/ip4\/[^/]+/, `/ip4/${LEFT_ROUTER_ADDRESS}`);
      for (const host of ['open', 'right'] as const)
        expect(await dialFrom(host, LIBP2P, options, seen)).toMatchObject({
          code: 'DELIVERY_FAILED',
          message: expect.stringContaining('longer than 2000 ms'),
        });

      const relay = await listenAt('public', LIBP2P, { ...anyPort(PUBLIC_ADDRESS), relay: {} });
      const address = await listenAt('left', LIBP2P, { listen: [`${relay}/p2p-circuit`] });
      expect(address).toMatch(`${relay}/p2p-circuit/p2p/`);
      for (const host of ['open', 'right'] as const)
        expect(await dialFrom(host, LIBP2P, {}, address)).toEqual(THROUGH);
    });
  });

  describe('Hyperswarm', () => {
    let dht: { readonly bootstrap: readonly object[]; readonly relay: string };
    const start = async (left: Nat, right: Nat): Promise<void> => {
      network = await NatNetwork.start(left, right);
      dht = JSON.parse(await network.run('public', 'public-dht.ts'));
    };
    const connection = async (from: Host, to: Host, options: object = {}): Promise<Outcome> => {
      const address = await listenAt(to, HYPERSWARM, { bootstrap: dht.bootstrap });
      return dialFrom(from, HYPERSWARM, { bootstrap: dht.bootstrap, ...options }, address);
    };

    it.each([
      ['keeps ports', 'keeps ports'],
      ['random ports', 'random ports'],
    ] as const)(
      'with one of %s, connects to an end without one, and is connected to',
      async (left, right) => {
        await start(left, right);
        expect(await connection('left', 'open')).toEqual(THROUGH);
        expect(await connection('open', 'left')).toEqual(THROUGH);
      },
    );

    it('makes holes in two that keep ports', async () => {
      await start('keeps ports', 'keeps ports');
      expect(await connection('right', 'left')).toEqual(THROUGH);
    });

    it.each([
      ['right', 'left'],
      ['left', 'right'],
    ] as const)(
      'makes holes in one that keeps ports and one with random ports, from %s to %s',
      async (from, to) => {
        await start('keeps ports', 'random ports');
        const address = await listenAt(to, HYPERSWARM, { bootstrap: dht.bootstrap });
        const options = { bootstrap: dht.bootstrap, connectTimeoutMs: 60_000 };
        // An attempt guesses ports, and about one in a thousand guesses none: a channel dials again.
        await until('a hole', async () => {
          const { bytesBack } = await dialFrom(from, HYPERSWARM, options, address);
          return bytesBack === THROUGH.bytesBack;
        });
      },
    );

    it('makes none in two with random ports, and needs a relay, which one of both ends knows', async () => {
      await start('random ports', 'random ports');
      expect(await connection('right', 'left')).toMatchObject({ code: 'DELIVERY_FAILED' });
      const relayed = { relayThrough: [dht.relay] };
      expect(await connection('right', 'left', relayed)).toEqual(THROUGH);
      const address = await listenAt('left', HYPERSWARM, { bootstrap: dht.bootstrap, ...relayed });
      expect(await dialFrom('right', HYPERSWARM, { bootstrap: dht.bootstrap }, address)).toEqual(THROUGH);
    });
  });
});
