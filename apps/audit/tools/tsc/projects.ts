import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { foldersAbove } from '../folders-above.ts';

/** Broken on purpose, or to be filled in. */
export const isFixture = (file: string): boolean =>
  /(^|\/)(__fixtures__|fixtures?|testdata|test-data|templates?|playgrounds?)\//.test(file);

const readText = (root: string, file: string): string => {
  try {
    return readFileSync(join(root, file), 'utf8');
  } catch {
    return '';
  }
};

/**
 * The configurations among `files` that are projects, in the order in which they take their files: the nearest to a file
 * first, and of one folder `tsconfig.json`. One that others extend is none: it only looks as if it had files.
 */
export function projectsOf(root: string, files: readonly string[]): string[] {
  const configs = files.filter((file) => /(^|\/)tsconfig(\.[\w.-]+)?\.json$/.test(file) && !isFixture(file));
  const extended = new Set(configs.flatMap((config) => extendedBy(config, readText(root, config))));
  return configs
    .filter((config) => basename(config) === 'tsconfig.json' || !extended.has(config))
    .filter((config) => !/\b(base|shared|common)\b/.test(basename(config)))
    .sort((a, b) => depth(b) - depth(a) || rank(a) - rank(b) || (a < b ? -1 : 1));
}

const depth = (file: string): number => file.split('/').length;
const rank = (file: string): number => (basename(file) === 'tsconfig.json' ? 0 : 1);

/** Relative to the root, with and without the ending that may be left out. */
function extendedBy(config: string, text: string): string[] {
  const named = /"extends"\s*:\s*("[^"]*"|\[[^\]]*\])/.exec(text)?.[1] ?? '';
  return [...named.matchAll(/"(\.[^"]*)"/g)].flatMap(([, path = '']) => {
    const file = resolve('/', dirname(config), path).slice(1);
    return [file, `${file}.json`, `${file}/tsconfig.json`];
  });
}

interface Manifest {
  readonly [section: string]: Readonly<Record<string, string>> | undefined;
}

/** The manifests that count for a file: that of its folder, and those of the folders above up to the root. */
const manifestsAbove = (root: string, file: string): Manifest[] =>
  foldersAbove(file).flatMap((above) => {
    try {
      return [JSON.parse(readText(root, join(above, 'package.json'))) as Manifest];
    } catch {
      return [];
    }
  });

/** Whether the repository was written for TypeScript 5 or before, or does not say for which. */
export function isOlderTypeScript(root: string, config: string): boolean {
  for (const manifest of manifestsAbove(root, config)) {
    const range = manifest['devDependencies']?.['typescript'] ?? manifest['dependencies']?.['typescript'];
    const major = Number(/\d+/.exec(range ?? '')?.[0]);
    if (major > 0) return major < 6;
  }
  return true;
}

/** Whether the compiler tells, in this file, what may be null or undefined; by the nearest project and what it extends here. */
export function isStrict(root: string, file: string): boolean {
  const projects = foldersAbove(file).map((folder) => join(folder, 'tsconfig.json'));
  const config = projects.find((path) => readText(root, path) !== '');
  if (config === undefined) return false;
  const chain = [config];
  for (const path of chain) {
    const text = readText(root, path).replace(/^\s*\/\/.*/gm, '');
    const said = ['strictNullChecks', 'strict'].map(
      (name) => new RegExp(`"${name}"\\s*:\\s*(\\w+)`).exec(text)?.[1],
    );
    const value = said.find((word) => word !== undefined);
    if (value !== undefined) return value === 'true';
    chain.push(...extendedBy(path, text).filter((base) => !chain.includes(base)));
  }
  return !isOlderTypeScript(root, config);
}
