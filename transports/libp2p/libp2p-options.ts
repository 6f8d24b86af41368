import { z } from 'zod';
import { topicOptions } from '../topics/topic-options.ts';

const SEED_BYTES = 32;
const TCP = String.raw`/(?:ip4|ip6|dns|dns4|dns6)/[^/]+/tcp/\d+`;

/**
 * - `peers`           peer ids that may take a place. @default everybody who connects
 * - `maxReservations` places at a time. @default 16
 * - `maxBytes`        what one connection over it may carry, both ways together. @default 67_108_864
 * - `maxDurationMs`   how long one connection over it may last, milliseconds. @default 3_600_000
 */
const RelayOptions = z.strictObject({
  peers: z.array(z.string().min(1)).readonly().optional(),
  maxReservations: z.int().positive().default(16),
  maxBytes: z.int().positive().default(67_108_864),
  maxDurationMs: z.int().positive().max(2_147_483_647).default(3_600_000),
});
export type RelayOptions = z.output<typeof RelayOptions>;

/**
 * - `seed`             32 bytes, or 64 hexadecimal digits, that the Ed25519 key is made of. Whoever has it can pretend to be this
 *                      end. @default a key made at random
 * - `listen`           multiaddrs that are bound from the first `connect` or `listen` on; none for an end that only connects.
 *                      One that ends with `/p2p/`, the peer id of a relay and `/p2p-circuit` takes a place at that relay.
 *                      @default ['/ip4/127.0.0.1/tcp/0']
 * - `relay`            carries connections of others, which take a place here, within these limits; `{}` for the default ones.
 *                      @default it carries none
 * - `maxFrameBytes`    the largest frame that is carried; the same at both ends. @default 1_048_576
 * - `connectTimeoutMs` how long connecting may take, milliseconds. @default 10_000
 * - `topics`           whether it joins topics, and answers others that look for them. It needs the packages `@libp2p/kad-dht`,
 *                      `@libp2p/gossipsub`, `@libp2p/ping`, `datastore-core`, `multiformats`. @default whether `bootstrap` or `mdns` is given
 * - `bootstrap`        multiaddrs with `/p2p/` of ends that are asked first where others are. @default none
 * - `mdns`             whether it finds ends of the same network by multicast; with the package `@libp2p/mdns`. @default false
 * - `maxFound`         how many other ends of one topic are remembered. @default 256
 * - `searchMs`         how long at most between two searches for them, milliseconds; the first ones follow sooner. @default 60_000
 */
export const Libp2pOptions = z.strictObject({
  seed: z
    .union([
      z.custom<Uint8Array>(
        (value) => value instanceof Uint8Array && value.byteLength === SEED_BYTES,
        `${SEED_BYTES} bytes`,
      ),
      z.string().regex(/^[0-9a-f]{64}$/i),
    ])
    .optional(),
  listen: z
    .array(z.string().regex(new RegExp(`^${TCP}(?:/p2p/[^/]+/p2p-circuit)?$`)))
    .readonly()
    .default(['/ip4/127.0.0.1/tcp/0']),
  relay: RelayOptions.optional(),
  maxFrameBytes: z.int().positive().default(1_048_576),
  connectTimeoutMs: z.int().positive().default(10_000),
  topics: z.boolean().optional(),
  bootstrap: z
    .array(z.string().regex(/^\/.+\/p2p\/[^/]+$/))
    .readonly()
    .default([]),
  mdns: z.boolean().default(false),
  ...topicOptions,
});
export type Libp2pOptions = z.input<typeof Libp2pOptions>;

/** Whether a transport with these options joins topics. */
export const joinsTopics = ({ topics, bootstrap, mdns }: z.output<typeof Libp2pOptions>): boolean =>
  topics ?? (mdns || bootstrap.length > 0);
