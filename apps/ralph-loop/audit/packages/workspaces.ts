import { matchesGlob } from 'node:path';
import { parse } from 'yaml';
import { readSource } from '../../findings/read-source.ts';
import type { Manifest } from './manifest.ts';
import type { PackageTree } from './package-tree.ts';

const PNPM = 'pnpm-workspace.yaml';

/** The packages that are developed together: the one at the root and those that it names; none when it names none. */
export function workspacesOf(root: string, tree: PackageTree): Manifest[] {
  const top = tree.at('');
  const globs = [...globsIn(top?.fields.workspaces), ...globsIn(pnpmWorkspace(root))];
  if (globs.length === 0) return [];
  const isNamed = ({ folder }: Manifest): boolean => isAmong(folder.slice(0, -1), globs);
  return [...tree.all].filter((manifest) => manifest === top || isNamed(manifest));
}

/** `!` takes out what an earlier one let in. */
function isAmong(folder: string, globs: readonly string[]): boolean {
  let isIn = false;
  for (const glob of globs) {
    const isOut = glob.startsWith('!');
    const pattern = glob
      .slice(isOut ? 1 : 0)
      .replace(/^\.\//, '')
      .replace(/\/$/, '');
    if (matchesGlob(folder, pattern)) isIn = !isOut;
  }
  return isIn;
}

/** npm and yarn have a list, or an object that holds the list as `packages`; so has pnpm. */
function globsIn(field: unknown): string[] {
  const list = Array.isArray(field) ? field : (field as { packages?: unknown } | null | undefined)?.packages;
  return Array.isArray(list) ? list.filter((glob) => typeof glob === 'string') : [];
}

function pnpmWorkspace(root: string): unknown {
  const read = readSource(root, PNPM);
  if ('skipped' in read) return undefined;
  try {
    return parse(read.source.text, { maxAliasCount: 0 });
  } catch {
    // What pnpm cannot read either names no packages.
    return undefined;
  }
}
