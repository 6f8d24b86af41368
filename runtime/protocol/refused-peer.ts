import { z } from 'zod';

/**
 * Who has proved a key, and was not let in.
 *
 * - `publicKey` raw Ed25519 in base64url: what `trust` takes.
 * - `node`      the name that it gives itself, cut to 128 characters. Nothing proves it.
 * - `atMs`      Unix milliseconds; when it was last refused, for this `reason`. `times` it was refused in all.
 * - `transport` by which it has connected. Absent where this node has dialled it.
 */
export const RefusedPeer = z.object({
  publicKey: z.string(),
  node: z.string(),
  atMs: z.number(),
  times: z.int().positive(),
  reason: z.string(),
  transport: z.enum(['local', 'hyperswarm', 'websocket', 'libp2p']).optional(),
});
export type RefusedPeer = Readonly<z.infer<typeof RefusedPeer>>;
