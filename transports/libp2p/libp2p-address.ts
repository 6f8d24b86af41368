import type { Multiaddr } from '@multiformats/multiaddr';

/** The peer that an address leads to, if it says so. */
export const peerIn = (address: Multiaddr): string | undefined =>
  address.getComponents().findLast(({ name }) => name === 'p2p')?.value;

/** The address of a peer wherever it is: libp2p knows its multiaddrs, or looks them up in the DHT. */
export const peerAddress = (peer: { toString(): string }): string => `/p2p/${peer.toString()}`;
