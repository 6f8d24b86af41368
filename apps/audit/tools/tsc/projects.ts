import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { foldersAbove } from '../folders-above.ts';

/** Whether a file may be broken on purpose, or is a template. */
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
 * The projects among `files`, in the order in which they take their files: the deepest first, and `tsconfig.json` before
 * others of its folder. A configuration that others extend is no project.
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

/** The configurations that one extends, relative to the root, with and without the optional ending. */
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

/** The manifests of a file's folder and of those above it. */
const manifestsAbove = (root: string, file: string): Manifest[] =>
  foldersAbove(file).flatMap((above) => {
    try {
      return [JSON.parse(readText(root, join(above, 'package.json'))) as Manifest];
    } catch {
      return [];
    }
  });

/** Whether the repository is written for TypeScript 5 or before, or does not say. */
export function isOlderTypeScript(root: string, config: string): boolean {
  for (const manifest of manifestsAbove(root, config)) {
    const range = manifest['devDependencies']?.['typescript'] ?? manifest['dependencies']?.['typescript'];
    const major = Number(/\d+/.exec(range ?? '')?.[0]);
    if (major > 0) return major < 6;
  }
  return true;
}

/** Whether strict null checks are on for a file, by the nearest project and those that it extends. */
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
