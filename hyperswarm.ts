/** Hyperswarm: frames for channels and nodes, and cards for a registry. */
import { z } from 'zod';
import { ChannelOptions } from './runtime/channels/channel-options.ts';
import { keyInFile } from './runtime/peers/key-file.ts';
import { PeerDiscovery } from './runtime/peers/peer-discovery.ts';
import { NodeKey, Trust } from './runtime/peers/trust.ts';
import { parseOptions } from './runtime/protocol/parse-options.ts';
import { signingKeyPair } from './runtime/protocol/signing.ts';
import type { SystemEvent } from './runtime/protocol/system-event.ts';
import { systemSeams } from './runtime/protocol/system-seams.ts';
import { PeerIdentity, Topic } from './runtime/system/peer-options.ts';
import { type HyperswarmOptions, hyperSwarm } from './transports/hyperswarm/index.ts';

export type { PeerDiscovery } from './runtime/peers/peer-discovery.ts';
export {
  type CarriedConnection,
  type HyperswarmOptions,
  type HyperswarmTransport,
  hyperSwarm,
} from './transports/hyperswarm/index.ts';

const DiscoveryOptions = z.strictObject({
  topic: z.union([Topic, z.array(Topic).min(1)]),
  identity: PeerIdentity,
  trust: z.array(Trust).default([]),
  revoked: z.array(NodeKey).default([]),
  channel: ChannelOptions.prefault({}),
  onEvent: z
    .custom<(event: SystemEvent) => void>((value) => typeof value === 'function', 'a function')
    .optional(),
});

/**
 * - `topic`    names under which the others are found; one or several.
 * - `identity` who this node is, for others.
 * - `trust`    whose cards are taken, and how their agents are judged, whatever their cards say. @default nobody's
 * - `revoked`  keys whose cards are not taken, also where `trust` has them or `*`. @default none
 * - `channel`  how channels to other nodes wait, try again, and bound what they keep.
 * - `onEvent`  is told of channels, and of what is refused: strangers and forged cards as matters of security.
 */
export type HyperswarmDiscoveryOptions = z.input<typeof DiscoveryOptions> & HyperswarmOptions;

/**
 * Finds other nodes through the DHT, and tells their agents' cards to a registry that has no running system:
 * `registry.enableHyperswarmDiscovery(hyperswarmDiscovery({ topic, identity, trust }))`. Every card is signed by its node; the
 * newest one counts. Running systems (`startSystem({ peers })`) in the topic show theirs too.
 *
 * It keeps the process alive until `close`. Throws INVALID_OPTIONS naming field and value.
 */
export function hyperswarmDiscovery({
  topic,
  identity,
  trust,
  revoked,
  channel,
  onEvent,
  ...options
}: HyperswarmDiscoveryOptions): PeerDiscovery {
  const parsed = parseOptions(
    DiscoveryOptions,
    { topic, identity, trust, revoked, channel, onEvent },
    'hyperswarmDiscovery',
  );
  const { node, key } = parsed.identity;
  const made = typeof key === 'string' ? undefined : (key ?? signingKeyPair());
  return new PeerDiscovery({
    node,
    keys: async () => made ?? keyInFile(key as string),
    trusts: { trust: parsed.trust, revoked: parsed.revoked },
    network: {
      transports: [hyperSwarm(options)],
      dial: [],
      addresses: [],
      topics: [...new Set([parsed.topic].flat())],
      channel: parsed.channel,
    },
    seams: systemSeams(),
    onEvent: parsed.onEvent ?? (() => undefined),
  });
}
