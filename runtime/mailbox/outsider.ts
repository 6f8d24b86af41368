import { createHash } from 'node:crypto';
import type { Outsider, OutsiderKey } from './behalf.ts';

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
