import { posix } from 'node:path';
import type { Manifest } from './manifest.ts';

/** Whether a package is made to be imported by others: not an application, not a command. */
export function isLibrary({ fields }: Manifest): boolean {
  const { exports, files, publishConfig, types } = fields;
  const isMeantForOthers = [exports, files, publishConfig, types].some((field) => field !== undefined);
  return !fields.private && fields.name !== undefined && fields.bin === undefined && isMeantForOthers;
}

/** Folders that builds write to; what is in them comes from a file of the same name elsewhere. */
const BUILT = new Set(['dist', 'build', 'out', 'lib', 'es', 'esm', 'cjs', 'umd', 'module', 'commonjs']);
const SOURCES = ['src/', 'lib/', 'source/', ''];
const ENDINGS = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'];

/**
 * The files of the repository that whoever imports a package loads first.
 *
 * `has` says whether the repository has a script of that name. An entry that a build writes stands for its source.
 */
export function entryFiles({ folder, fields }: Manifest, has: (file: string) => boolean): string[] {
  const { exports, main, module, browser } = fields;
  const named = [exports, main, module, browser].flatMap((field) => [...pathsIn(field)]);
  const entries = named.flatMap((path) => {
    const inside = posix.normalize(path);
    if (inside.startsWith('..') || inside.includes('*')) return [];
    return has(folder + inside) ? [folder + inside] : sourcesOf(folder, inside, has);
  });
  return [...new Set(entries)];
}

function sourcesOf(folder: string, built: string, has: (file: string) => boolean): string[] {
  const parts = built.split('/');
  while (parts.length > 1 && BUILT.has(parts[0] as string)) parts.shift();
  const stem = parts.join('/').replace(/(\.d)?\.[cm]?[jt]sx?$/, '');
  const candidates = SOURCES.flatMap((source) => ENDINGS.map((ending) => folder + source + stem + ending));
  return candidates.filter(has).slice(0, 1);
}

/** Every path in a field of package.json, however deep its conditions are. */
function* pathsIn(field: unknown): Generator<string> {
  if (typeof field === 'string') yield field;
  else if (typeof field === 'object' && field !== null)
    for (const one of Object.values(field)) yield* pathsIn(one);
}
