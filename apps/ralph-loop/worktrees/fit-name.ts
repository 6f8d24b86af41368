import { createHash } from 'node:crypto';

/** Letters of a name that is made fit. */
const MAX_LETTERS = 60;
const HASH = 8;

/** A name made fit to be part of a branch and a folder: letters, digits, `.`, `_` and `-`, in lower case. */
export const fitName = (name: string): string => fit(name.toLowerCase()) || 'mission';

/** The same for an id, which differs from those of all other ids. */
export function fitId(id: string): string {
  const fitted = fit(id);
  if (fitted === id) return id;
  return `${fitted}-${createHash('sha256').update(id).digest('hex').slice(0, HASH)}`;
}

/** Git wants no two dots, no dot at an end and no `.lock`; a dash at the front would be an option. */
function fit(name: string): string {
  const plain = name
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')
    .replaceAll(/\.{2,}/g, '.');
  return [...plain]
    .slice(0, MAX_LETTERS)
    .join('')
    .replace(/^[.-]+/, '')
    .replace(/(\.lock|[.-])+$/, '');
}
