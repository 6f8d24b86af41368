/** Frames over libp2p: `orrery/libp2p`. */
import type { GossipTopic } from './gossip-topic.ts';
import type { Libp2pOptions } from './libp2p-options.ts';
import { Libp2pTransport } from './libp2p-transport.ts';

export type { CarriedConnection } from '../carried-connection.ts';
export type { GossipTopic, Libp2pOptions, Libp2pTransport };

/**
 * Makes a transport over libp2p: `libp2p({ seed, listen: ['/ip4/127.0.0.1/tcp/7401'] })`. The same seed gives the same peer id.
 *
 * Throws INVALID_OPTIONS naming field and value.
 */
export const libp2p = (options: Libp2pOptions = {}): Libp2pTransport =>
  new Libp2pTransport(options, {
    module: new URL('./index.ts', import.meta.url).href,
    make: 'libp2p',
    options,
  });
