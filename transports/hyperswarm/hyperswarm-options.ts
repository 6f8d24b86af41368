import { z } from 'zod';
import { topicOptions } from '../topics/topic-options.ts';

const KEY_BYTES = 32;
const SECRET_KEY_BYTES = 64;

const bytesOf = (length: number) =>
  z.custom<Uint8Array>(
    (value) => value instanceof Uint8Array && value.byteLength === length,
    `${length} bytes`,
  );

const Bootstrap = z.union([
  z.string().min(1),
  z.strictObject({ host: z.string().min(1), port: z.int().min(1).max(65_535) }),
]);

/**
 * - `seed`             32 bytes, or 64 hexadecimal digits, that the key pair is made of. Whoever has it can pretend to be this end.
 * - `keyPair`          an Ed25519 key pair instead, as hyperdht makes it. @default one made at random
 * - `bootstrap`        nodes of the DHT that are asked first, `host:port` or as objects. @default hyperdht's public ones
 * - `host`, `port`     where it binds. On 127.0.0.1 it takes itself for reachable. @default every address, any port
 * - `relayThrough`     public keys of relays in the DHT, in hexadecimal, for who finds no direct way. It is enough when one end
 *                      has them. @default no relay
 * - `maxFrameBytes`    the largest frame that is carried; the same at both ends. @default 1_048_576
 * - `connectTimeoutMs` how long connecting may take once the DHT is found, milliseconds. @default 10_000
 * - `maxFound`         how many other ends of one topic are remembered. @default 256
 * - `searchMs`         how long at most between two searches for them, milliseconds; the first ones follow sooner. @default 60_000
 */
export const HyperswarmOptions = z
  .strictObject({
    seed: z.union([bytesOf(KEY_BYTES), z.string().regex(/^[0-9a-f]{64}$/i)]).optional(),
    keyPair: z
      .strictObject({ publicKey: bytesOf(KEY_BYTES), secretKey: bytesOf(SECRET_KEY_BYTES) })
      .optional(),
    bootstrap: z.array(Bootstrap).readonly().optional(),
    host: z.string().min(1).optional(),
    port: z.int().min(0).max(65_535).optional(),
    relayThrough: z
      .array(z.string().regex(/^[0-9a-f]{64}$/i))
      .readonly()
      .optional(),
    maxFrameBytes: z.int().min(64).default(1_048_576),
    connectTimeoutMs: z.int().positive().default(10_000),
    ...topicOptions,
  })
  .refine(({ seed, keyPair }) => seed === undefined || keyPair === undefined, {
    path: ['seed'],
    error: 'a seed or a key pair, not both',
  });
export type HyperswarmOptions = z.input<typeof HyperswarmOptions>;
