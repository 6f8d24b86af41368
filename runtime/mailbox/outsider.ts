import { hash } from 'node:crypto';
import { remembering } from '../protocol/remembering.ts';
import type { Outsider, OutsiderKey } from './behalf.ts';

const MAX_NAME = 200;
const SECOND_WORD_AT_BYTE = 4;

/** The outsider with this name. `salt` is secret, so that nobody can find a name with somebody else's key. */
export function outsiderOf(name: string, salt: string): Outsider {
  const digest = hash('sha256', `${salt}\n${name}`, 'buffer');
  return {
    name: name.slice(0, MAX_NAME),
    key: [digest.readInt32LE(0), digest.readInt32LE(SECOND_WORD_AT_BYTE) | 1],
  };
}

/** Outsiders that are remembered: a gateway asks twice for each request, mostly for few callers. */
const MOST_KNOWN = 256;

/** Makes the outsiders of one client, with its own salt, and remembers them. Long names are not remembered. */
export function outsidersBy(salt: string): (name: string) => Outsider {
  const known = remembering(MOST_KNOWN, (name) => outsiderOf(name, salt));
  return (name) => (name.length <= MAX_NAME ? known(name) : outsiderOf(name, salt));
}

/** The key as text, for use in maps. */
export const keyText = ([first, second]: OutsiderKey): string => `${first}/${second}`;
