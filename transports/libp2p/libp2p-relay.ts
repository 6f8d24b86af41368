import { circuitRelayServer } from '@libp2p/circuit-relay-v2';
import type { Libp2pOptions as NodeOptions } from 'libp2p';
import type { RelayOptions } from './libp2p-options.ts';

const RELAYED = /\/p2p\/([^/]+)\/p2p-circuit$/;

/** Whether a multiaddr to listen at is a place at a relay. */
export const isRelayed = (address: string): boolean => RELAYED.test(address);

/** The peer id of the relay that `address` is a place at. */
export const relayOf = (address: string): string => RELAYED.exec(address)?.[1] ?? '';

/** The service that carries connections of others. */
export const relayServer = ({ maxReservations, maxBytes, maxDurationMs }: RelayOptions) =>
  circuitRelayServer({
    reservations: {
      maxReservations,
      defaultDataLimit: BigInt(maxBytes),
      defaultDurationLimit: maxDurationMs,
    },
  });

/** Says who may take a place here. */
export function mayReserve(relay: RelayOptions | undefined): NonNullable<NodeOptions['connectionGater']> {
  const { peers } = relay ?? {};
  return peers === undefined
    ? {}
    : { denyInboundRelayReservation: (peer) => !peers.includes(peer.toString()) };
}
