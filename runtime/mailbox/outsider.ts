import { createHash } from 'node:crypto';
import { z } from 'zod';

/** Two words of 32 bits; the second is never 0. */
const OutsiderKey = z.tuple([z.int32(), z.int32()]).readonly();
export type OutsiderKey = z.infer<typeof OutsiderKey>;

/**
 * Who outside the system stands at the root of what caused an envelope: deaths over it are charged to them.
 *
 * - `name` for people to read.
 * - `key`  which one it is, in as little as shared memory has room for.
 */
export const Outsider = z.object({ name: z.string(), key: OutsiderKey });
export type Outsider = Readonly<z.infer<typeof Outsider>>;

const MAX_NAME = 200;
const SECOND_WORD_AT_BYTE = 4;

/** The outsider of this name. `salt` is secret, so that nobody can look for a name that has somebody else's key. */
export function outsiderOf(name: string, salt: string): Outsider {
  const hash = createHash('sha256').update(salt).update('\n').update(name).digest();
  return {
    name: name.slice(0, MAX_NAME),
    key: [hash.readInt32LE(0), hash.readInt32LE(SECOND_WORD_AT_BYTE) | 1],
  };
}

/** As a text, to find it by. */
export const keyText = ([first, second]: OutsiderKey): string => `${first}/${second}`;
