import { z } from 'zod';

/** What carries what two processes say to each other. */
export const LINKS = ['websocket', 'hyperswarm', 'libp2p'] as const;
export type LinkKind = (typeof LINKS)[number];

const Network = z.strictObject({
  link: z.enum(LINKS),
  bootstrap: z.array(z.strictObject({ host: z.string(), port: z.int() })).default([]),
  port: z.int().default(0),
  seed: z.string().optional(),
});

/**
 * How two processes find each other.
 *
 * - `bootstrap` the nodes of the DHT, where there is one.
 * - `port`      where the one that is found listens. @default any
 * - `seed`      32 bytes in hexadecimal, from which it has its keys. @default new ones
 */
export type Network = z.output<typeof Network>;

/** What a process of a benchmark is to listen with. */
export const networkOf = (argv: readonly string[]): Network => Network.parse(JSON.parse(argv[2] ?? '{}'));

/** What it says when it listens; `publicKey` of a node of ours. */
export const Listening = z.strictObject({ address: z.string(), publicKey: z.string().optional() });
export type Listening = z.output<typeof Listening>;
