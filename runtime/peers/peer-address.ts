import { z } from 'zod';
import type { AgentEndpoint } from '../protocol/agent-card.ts';
import type { TransportKind } from '../protocol/transport.ts';

/** The most characters of an address. */
export const MAX_ADDRESS = 512;

/** Where other nodes are: `ws://host:port/path`, `hyperswarm:<key>`, or a multiaddr of libp2p. */
export const PeerAddress = z.string().transform((address, context): AgentEndpoint => {
  const transport = address.length > MAX_ADDRESS ? undefined : transportOf(address);
  if (transport !== undefined) return { transport, address };
  context.addIssue({
    code: 'custom',
    input: address,
    message: 'ws://host:port/path, hyperswarm: and a key, or a multiaddr',
  });
  return z.NEVER;
});

/** Those of the addresses that another node names that are known here; the same once. */
export function endpointsAt(addresses: readonly string[]): readonly AgentEndpoint[] {
  return [...new Set(addresses)].flatMap((address) => PeerAddress.safeParse(address).data ?? []);
}

/** What carries channels to this address; undefined for what is no address. */
export function transportOf(address: string): TransportKind | undefined {
  if (/^wss?:\/\//.test(address)) return 'websocket';
  if (address.startsWith('hyperswarm:')) return 'hyperswarm';
  return address.startsWith('/') ? 'libp2p' : undefined;
}
