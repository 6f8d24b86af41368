import { dirname } from 'node:path';
import type { Hit, Tool, ToolJob } from '../tool.ts';
import { isScript } from './oxlint.ts';

const isManifest = (file: string): boolean => /(^|\/)package\.json$/.test(file);

/**
 * URANUS's: packages that are imported and not declared, and a lock that no longer fits.
 *
 * It is ours, on the parser and the resolver of oxc: knip loads the configurations of other tools as code.
 */
export const dependencies: Tool = {
  name: 'dependencies',
  module: import.meta.url,
  packages: ['oxc-parser', 'oxc-resolver'],
  licence: 'MIT',
  home: 'https://oxc.rs',
  replaces: 'the rules dependencies.*',
  rules: {
    'dependencies/undeclared': {
      severity: 'medium',
      what: 'A package is imported that no manifest above declares: it is there because another brings it',
    },
    'dependencies/lock-drift': {
      severity: 'medium',
      what: 'package.json asks for another version than package-lock.json was made for, so npm ci refuses',
    },
  },
  nothing: 'no package.json',
  takes: (file) => isManifest(file) || isScript(file),
  isNative: true,
  run: async (job, progress) => {
    const manifests = await manifestsIn(job);
    if (manifests.size === 0) return { hits: [], filesSeen: 0 };
    return {
      hits: [...(await undeclaredIn(job, manifests, progress)), ...(await lockDrift(job, manifests))],
    };
  },
};

const SECTIONS = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'] as const;

type Manifest = { readonly name?: string } & Readonly<
  Partial<Record<(typeof SECTIONS)[number], Readonly<Record<string, string>>>>
>;

/** By their folders: `.` is the root. */
type Manifests = ReadonlyMap<string, Manifest>;

async function manifestsIn({ root, files }: ToolJob): Promise<Manifests> {
  const manifests = new Map<string, Manifest>();
  for (const file of files.filter(isManifest)) {
    const manifest = await jsonOf(root, file);
    if (manifest !== undefined) manifests.set(dirname(file), manifest as Manifest);
  }
  return manifests;
}

async function jsonOf(root: string, file: string): Promise<unknown> {
  const { readFileSync } = await import('node:fs');
  const { join } = await import('node:path');
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Of `@scope/name/path` and `name/path`; undefined of what no registry could have. */
const packageOf = (specifier: string): string | undefined =>
  /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(?=\/|$)/.exec(specifier)?.[0];

async function undeclaredIn(
  { root, files }: ToolJob,
  manifests: Manifests,
  progress: (done: number, of: number) => void,
): Promise<Hit[]> {
  const { isBuiltin } = await import('node:module');
  const { existsSync } = await import('node:fs');
  const { join } = await import('node:path');
  const { ImportResolver, importsOf } = await import('./imports.ts');
  const { readSource } = await import('@orrery/ralph-loop/findings/read-source');
  const resolver = new ImportResolver(root);
  const own = new Set([...manifests.values()].map(({ name }) => name));
  const hits = new Map<string, Hit>();
  for (const [index, file] of files.entries()) {
    progress(index, files.length);
    const declared = declaredFor(file, manifests);
    const read = isScript(file) && !isExample(file) ? readSource(root, file) : { skipped: true };
    if ('skipped' in read || declared === undefined) continue;
    for (const { specifier, offset, isType, isLazy } of importsOf(read.source)) {
      const name = packageOf(specifier);
      if (name === undefined || isType || isLazy || isBuiltin(specifier) || own.has(name)) continue;
      if (declared.has(name) || declared.has(typesOf(name)) || hits.has(`${dirname(file)} ${name}`)) continue;
      // Only what stands in node_modules is surely a package: the rest may be a bundler's word for a folder.
      if (!foldersAbove(file).some((folder) => existsSync(join(root, folder, 'node_modules', name))))
        continue;
      if (typeof resolver.resolve(file, specifier) !== 'string') continue;
      hits.set(`${dirname(file)} ${name}`, {
        rule: 'dependencies/undeclared',
        severity: 'medium',
        file,
        ...read.source.positionAt(offset),
        message: `The package ${name} is imported, and no package.json above declares it: it is installed because another package brings it. Declare it.`,
      });
    }
  }
  return [...hits.values()];
}

const isExample = (file: string): boolean =>
  /(^|\/)(examples?|fixtures?|__fixtures__|templates?)\//.test(file);

const typesOf = (name: string): string => `@types/${name.replace(/^@(.+)\/(.+)$/, '$1__$2')}`;

/** Its own folder and those above, up to the root. */
function foldersAbove(file: string): string[] {
  const folders = [dirname(file)];
  while (folders.at(-1) !== '.') folders.push(dirname(folders.at(-1) as string));
  return folders;
}

/** What may be imported by a file; undefined where no manifest speaks for it. */
function declaredFor(file: string, manifests: Manifests): ReadonlySet<string> | undefined {
  const above = foldersAbove(file).flatMap((folder) => manifests.get(folder) ?? []);
  return above.length === 0
    ? undefined
    : new Set(
        above.flatMap((manifest) => SECTIONS.flatMap((section) => Object.keys(manifest[section] ?? {}))),
      );
}

interface Lock {
  readonly packages?: Readonly<Record<string, Manifest | undefined>>;
}

/** What npm compares before `npm ci`: the ranges of each manifest with those that the lock was made for. */
async function lockDrift({ root }: ToolJob, manifests: Manifests): Promise<Hit[]> {
  const { packages } = ((await jsonOf(root, 'package-lock.json')) ?? {}) as Lock;
  const { readSource } = await import('@orrery/ralph-loop/findings/read-source');
  const hits: Hit[] = [];
  for (const [folder, manifest] of manifests) {
    const locked = packages?.[folder === '.' ? '' : folder];
    const file = folder === '.' ? 'package.json' : `${folder}/package.json`;
    const read = readSource(root, file);
    if (locked === undefined || 'skipped' in read) continue;
    for (const section of SECTIONS) {
      for (const [name, range] of Object.entries(manifest[section] ?? {})) {
        const was = locked[section]?.[name];
        // npm keeps what is optional in that section alone.
        if (
          was === range ||
          (section !== 'optionalDependencies' && manifest.optionalDependencies?.[name] !== undefined)
        )
          continue;
        const offset = read.source.text.indexOf(
          `"${name}"`,
          Math.max(0, read.source.text.indexOf(`"${section}"`)),
        );
        hits.push({
          rule: 'dependencies/lock-drift',
          severity: 'medium',
          file,
          ...read.source.positionAt(Math.max(0, offset)),
          message: `It asks for ${name} ${range}, and package-lock.json was made for ${was ?? 'none'}: npm ci refuses. Run npm install, and commit the lock.`,
        });
      }
    }
  }
  return hits;
}
