import type { GitObject } from './object.ts';

/** What a folder holds: `kind` is undefined for what is neither a file nor a folder (links, other repositories). */
export interface TreeEntry {
  readonly path: string;
  readonly name: string;
  readonly kind: 'file' | 'folder' | undefined;
}

/** The entries of a folder by their names. Empty for what is no tree. */
export function parseTree({ type, data }: GitObject): ReadonlyMap<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>();
  if (type !== 'tree') return entries;
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(0x20, at);
    const end = data.indexOf(0, at);
    if (space === -1 || end === -1 || space > end) break;
    const mode = data.toString('latin1', at, space);
    const path = data.toString('utf8', space + 1, end);
    entries.set(path, { path, name: data.toString('hex', end + 1, end + 21), kind: kindOf(mode) });
    at = end + 21;
  }
  return entries;
}

function kindOf(mode: string): TreeEntry['kind'] {
  if (mode === '40000') return 'folder';
  return mode.startsWith('100') ? 'file' : undefined;
}
