import { noise } from '@chainsafe/libp2p-noise';
import { yamux } from '@chainsafe/libp2p-yamux';
import { generateKeyPair, generateKeyPairFromSeed } from '@libp2p/crypto/keys';
import { identify } from '@libp2p/identify';
import { tcp } from '@libp2p/tcp';
import { createLibp2p, type Libp2p } from 'libp2p';
import type { z } from 'zod';
import type { Libp2pOptions } from './libp2p-options.ts';

/** A stream, and the connection to a peer that it is one of. */
export type PeerStream = Awaited<ReturnType<Libp2p['dialProtocol']>>;
export type PeerConnection = Awaited<ReturnType<Libp2p['dial']>>;

/** Starts the node of one transport: TCP, Noise, Yamux, identify. What finds peers belongs to its services. */
export async function startNode({ seed, listen }: z.output<typeof Libp2pOptions>): Promise<Libp2p> {
  const bytes = typeof seed === 'string' ? Buffer.from(seed, 'hex') : seed;
  return createLibp2p({
    privateKey: await (bytes === undefined
      ? generateKeyPair('Ed25519')
      : generateKeyPairFromSeed('Ed25519', bytes)),
    addresses: { listen: [...listen] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify() },
  });
}
