import { createHash } from 'node:crypto';

/** Two words of 32 bits; the second is never 0. */
export type OutsiderKey = readonly [number, number];

/**
 * Who outside the system stands at the root of what caused an envelope: deaths over it are charged to them.
 *
 * - `name` for people to read.
 * - `key`  which one it is, in as little as shared memory has room for.
 */
export interface Outsider {
  readonly name: string;
  readonly key: OutsiderKey;
}

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
