import { z } from 'zod';
import { topicOptions } from '../topics/topic-options.ts';

const SEED_BYTES = 32;

/**
 * - `seed`             32 bytes, or 64 hexadecimal digits, that the Ed25519 key is made of. Whoever has it can pretend to be this
 *                      end. @default a key made at random
 * - `listen`           multiaddrs that are bound from the first `connect` or `listen` on; none for an end that only connects.
 *                      @default ['/ip4/127.0.0.1/tcp/0']
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
    .array(z.string().regex(/^\/(?:ip4|ip6|dns|dns4|dns6)\/[^/]+\/tcp\/\d+$/))
    .readonly()
    .default(['/ip4/127.0.0.1/tcp/0']),
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
