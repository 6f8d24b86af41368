import { noise } from '@chainsafe/libp2p-noise';
import { yamux } from '@chainsafe/libp2p-yamux';
import { generateKeyPair, generateKeyPairFromSeed } from '@libp2p/crypto/keys';
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2';
import { identify } from '@libp2p/identify';
import { tcp } from '@libp2p/tcp';
import { createLibp2p, type Libp2p } from 'libp2p';
import type { z } from 'zod';
import { PACKAGES_FOR, requirePackages } from '../../runtime/protocol/optional-packages.ts';
import { joinsTopics, type Libp2pOptions } from './libp2p-options.ts';
import { isRelayed, mayReserve, relayServer } from './libp2p-relay.ts';
import { RelayPlaces } from './relay-places.ts';

/** A stream, and the connection to a peer that it is one of. */
export type PeerStream = Awaited<ReturnType<Libp2p['dialProtocol']>>;
export type PeerConnection = Awaited<ReturnType<Libp2p['dial']>>;

/** Starts the node of one transport: TCP, relays, Noise, Yamux, identify, and what finds peers where that is wanted. */
export async function startNode(options: z.output<typeof Libp2pOptions>): Promise<Libp2p> {
  const { seed, listen, relay } = options;
  const bytes = typeof seed === 'string' ? Buffer.from(seed, 'hex') : seed;
  let node: Libp2p | undefined;
  node = await createLibp2p({
    privateKey: await (bytes === undefined
      ? generateKeyPair('Ed25519')
      : generateKeyPairFromSeed('Ed25519', bytes)),
    addresses: { listen: [...listen] },
    transports: [tcp(), circuitRelayTransport()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    peerDiscovery: await peerDiscovery(options, () => node),
    ...(await topicStore(options)),
    connectionGater: mayReserve(relay),
    services: {
      identify: identify(),
      // A public address counts only once somebody has called it, and without this nobody would be told to.
      reachable: ({ events, addressManager }) => {
        events.addEventListener('transport:listening', ({ detail }) => {
          for (const address of detail.getAddrs())
            addressManager.confirmObservedAddr(address, { type: 'transport' });
        });
        return {};
      },
      places: (components) => new RelayPlaces(listen.filter(isRelayed), components),
      ...(await topicServicesOf(options)),
      ...(relay === undefined ? {} : { relay: relayServer(relay) }),
    },
  });
  return node;
}

async function topicStore(options: z.output<typeof Libp2pOptions>) {
  if (!joinsTopics(options)) return {};
  requirePackages('Topics over libp2p', PACKAGES_FOR.libp2pTopics);
  const { recordStore } = await import('./record-store.ts');
  return { datastore: recordStore() };
}

async function topicServicesOf(options: z.output<typeof Libp2pOptions>) {
  if (!joinsTopics(options)) return {};
  const { topicServices } = await import('./topic-services.ts');
  return topicServices(options.listen.length > 0);
}

async function peerDiscovery({ mdns }: z.output<typeof Libp2pOptions>, node: () => Libp2p | undefined) {
  if (!mdns) return [];
  requirePackages('mDNS over libp2p (mdns)', PACKAGES_FOR.mdns);
  const { nearbyPeers } = await import('./nearby-peers.ts');
  return [nearbyPeers(node)];
}
