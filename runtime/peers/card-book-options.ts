import { z } from 'zod';
import { MAX_PAGE_CARDS } from './card-digest.ts';
import { MAX_CARD_BYTES, NodeId, PublicKey } from './signed-card.ts';

const HOUR_MS = 3_600_000;
const MIB = 1_048_576;

/** A card of the longest text, quotes within it doubled, and its terms. */
const LEAST_BYTES = 3 * MAX_CARD_BYTES;

const count = (fallback: number) => z.int().min(1).default(fallback);
const bytes = (fallback: number) => z.int().min(LEAST_BYTES).default(fallback);
const milliseconds = (least: number, fallback: number) => z.int().min(least).default(fallback);

/**
 * Whose book it is, whom it believes, and how much it holds.
 *
 * - `nodeId`, `publicKey` this node: nobody else's cards for it are taken.
 * - `keys`            the key of a node, by its name, as the owner knows it. No other key is taken for it, and there is always
 *                     room for it. @default none: whoever brings a name first holds it
 * - `maxLifetimeMs`   how long a card may be valid. @default 3_600_000
 * - `clockSkewMs`     how far in the future a card may have been issued. @default 60_000
 * - `maxNodes`        other nodes. @default 1_000
 * - `maxNodesPerPeer`, `maxBytesPerPeer` what is here because one peer brought it. @default 500, 16 MiB
 * - `maxCardsPerNode` agents of one node, withdrawn ones too. @default 1_000
 * - `maxBytesPerNode`, `maxBytes` cards as JSON, of one node and of all others. @default 4 MiB, 32 MiB
 * - `verificationsPerSecond`, `verificationBurst` signatures that are checked for one peer. @default 200, 2_000
 * - `pageCards`, `pageBytes` how much is in one digest, and in one answer: a single card may be longer.
 *                     @default 500, 262_144
 */
export const CardBookOptions = z
  .strictObject({
    nodeId: NodeId,
    publicKey: PublicKey,
    keys: z.record(NodeId, PublicKey).default({}),
    maxLifetimeMs: milliseconds(1, HOUR_MS),
    clockSkewMs: milliseconds(0, 60_000),
    maxNodes: count(1_000),
    maxNodesPerPeer: count(500),
    maxCardsPerNode: count(1_000),
    maxBytesPerNode: bytes(4 * MIB),
    maxBytesPerPeer: bytes(16 * MIB),
    maxBytes: bytes(32 * MIB),
    verificationsPerSecond: count(200),
    verificationBurst: count(2_000),
    pageCards: z.int().min(1).max(MAX_PAGE_CARDS).default(500),
    pageBytes: z.int().min(1).default(262_144),
  })
  .refine(({ nodeId, keys }) => !Object.hasOwn(keys, nodeId), {
    path: ['keys'],
    message: 'keys of other nodes than this one',
  });
export type CardBookOptions = z.input<typeof CardBookOptions>;
