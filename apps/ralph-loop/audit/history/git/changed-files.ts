import type { GitRepository } from './git-repository.ts';
import { parseTree, type TreeEntry } from './tree.ts';

/** A commit that touches more is a reformatting, an import or a move: it says nothing about single files. */
export const MAX_CHANGED = 1_000;

/** Folders in folders beyond this are no repository that anybody works on. */
const MAX_DEPTH = 200;

/**
 * The files that differ between two trees by their paths, those only in one included.
 *
 * Stops after `MAX_CHANGED` + 1; undefined when a part of a tree cannot be read.
 */
export function changedFiles(repository: GitRepository, before: string, after: string): string[] | undefined {
  const changed: string[] = [];
  const pending: {
    readonly folder: string;
    readonly trees: readonly (string | undefined)[];
    readonly depth: number;
  }[] = [{ folder: '', trees: [before, after], depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [old, now] = next.trees.map((name) => entriesOf(repository, name));
    if (old === undefined || now === undefined || next.depth > MAX_DEPTH) return undefined;
    for (const path of new Set([...old.keys(), ...now.keys()])) {
      const sides = [old.get(path), now.get(path)];
      const [a, b] = sides;
      if (a?.name === b?.name) continue;
      if (sides.some((side) => side?.kind === 'file')) changed.push(next.folder + path);
      if (sides.some((side) => side?.kind === 'folder')) {
        const trees = sides.map((side) => (side?.kind === 'folder' ? side.name : undefined));
        pending.push({ folder: `${next.folder}${path}/`, trees, depth: next.depth + 1 });
      }
    }
    if (changed.length > MAX_CHANGED) return changed.slice(0, MAX_CHANGED + 1);
  }
  return changed;
}

/** Nothing where there is no tree; undefined where one is missing. */
function entriesOf(
  repository: GitRepository,
  name: string | undefined,
): ReadonlyMap<string, TreeEntry> | undefined {
  if (name === undefined) return new Map();
  const object = repository.object(name);
  return object && parseTree(object);
}
