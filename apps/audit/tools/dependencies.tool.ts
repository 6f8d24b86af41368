import { dirname } from 'node:path';
import type { Hit, Tool, ToolJob } from '../tool.ts';
import { isDemo, isSample } from './aside.ts';
import { foldersAbove } from './folders-above.ts';
import { isScript } from './oxlint.ts';

const isManifest = (file: string): boolean => /(^|\/)package\.json$/.test(file);

/**
 * Finds packages that are imported but not declared, and lock files that no longer fit.
 *
 * It is our own, on the parser and resolver of oxc, because knip loads configurations of other tools as code.
 */
export const dependencies: Tool = {
  name: 'dependencies',
  module: import.meta.url,
  packages: ['oxc-parser', 'oxc-resolver', 'semver'],
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
      what: 'package.json asks for versions that package-lock.json does not have, so npm ci refuses',
    },
    'dependencies/stray-lock': {
      severity: 'low',
      what: 'A package-lock.json that no longer fits lies beside the lock of another package manager',
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

/** Manifests by folder; `.` is the root. */
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

/** The package of a specifier, `@scope/name/path` or `name/path`; undefined if it is no valid name. */
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
    const read =
      isScript(file) && !isDemo(file) && !isSample(file) ? readSource(root, file) : { skipped: true };
    if ('skipped' in read || declared === undefined) continue;
    for (const { specifier, offset, isType, isLazy } of importsOf(read.source)) {
      const name = packageOf(specifier);
      if (name === undefined || isType || isLazy || isBuiltin(specifier) || own.has(name)) continue;
      if (declared.has(name) || declared.has(typesOf(name)) || hits.has(`${dirname(file)} ${name}`)) continue;
      // Only a folder in node_modules is surely a package. Other names may be aliases of a bundler.
      const isInstalled = (folder: string): boolean =>
        manifests.has(folder) && existsSync(join(root, folder, 'node_modules', name));
      if (!foldersAbove(file).some(isInstalled)) continue;
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

const typesOf = (name: string): string => `@types/${name.replace(/^@(.+)\/(.+)$/, '$1__$2')}`;

/** The packages that a file may import; undefined if no manifest applies to it. */
function declaredFor(file: string, manifests: Manifests): ReadonlySet<string> | undefined {
  const above = foldersAbove(file).flatMap((folder) => manifests.get(folder) ?? []);
  return above.length === 0
    ? undefined
    : new Set(
        above.flatMap((manifest) => SECTIONS.flatMap((section) => Object.keys(manifest[section] ?? {}))),
      );
}

interface Locked extends Manifest {
  readonly version?: string;
  readonly link?: boolean;
}

interface Lock {
  readonly packages?: Readonly<Record<string, Locked | undefined>>;
}

/** Finds what makes `npm ci` fail: packages that are not locked, or with a version that does not fit. */
async function lockDrift({ root }: ToolJob, manifests: Manifests): Promise<Hit[]> {
  const { packages } = ((await jsonOf(root, 'package-lock.json')) ?? {}) as Lock;
  const { readSource } = await import('@orrery/ralph-loop/findings/read-source');
  const { satisfies, validRange } = await import('semver');
  const lockedIn = (folder: string, name: string): Locked | undefined =>
    packages?.[`${folder}/node_modules/${name}`] ?? packages?.[`node_modules/${name}`];
  const hits = [...manifests].flatMap(([folder, manifest]): Hit[] => {
    const was = packages?.[folder === '.' ? '' : folder];
    const file = folder === '.' ? 'package.json' : `${folder}/package.json`;
    const read = readSource(root, file);
    if (was === undefined || 'skipped' in read) return [];
    const asked = SECTIONS.flatMap((section) =>
      Object.entries(manifest[section] ?? {}).filter(([name, range]) => range !== was[section]?.[name]),
    );
    const misfits = asked.filter(([name, range]) => {
      const locked = lockedIn(folder, name);
      // Peer and optional dependencies may be missing.
      if (locked === undefined)
        return [manifest.dependencies, manifest.devDependencies].some((all) => all?.[name] === range);
      const { link = false, version = '' } = locked;
      return !link && validRange(range) !== null && !satisfies(version, range, { loose: true });
    });
    const [[first] = []] = misfits;
    if (first === undefined) return [];
    const named = misfits
      .slice(0, 3)
      .map(([name, range]) => `${name} ${range} (locked: ${lockedIn(folder, name)?.version ?? 'none'})`);
    const more = misfits.length > 3 ? ` and ${misfits.length - 3} more` : '';
    const place = read.source.positionAt(Math.max(0, read.source.text.indexOf(`"${first}"`)));
    const message = `It asks for ${named.join(', ')}${more}, which package-lock.json does not have: npm ci refuses. Run npm install, and commit the lock.`;
    return [{ rule: 'dependencies/lock-drift', severity: 'medium', file, ...place, message }];
  });
  return hits.length > 0 && (await isInstalledByOther(root)) ? [STRAY] : hits;
}

const STRAY: Hit = {
  rule: 'dependencies/stray-lock',
  severity: 'low',
  file: 'package.json',
  line: 1,
  message:
    'Another package manager installs this, and the package-lock.json beside it no longer fits: it is of no use. Remove it.',
};

/** Whether a package manager other than npm installs the repository. */
async function isInstalledByOther(root: string): Promise<boolean> {
  const { existsSync } = await import('node:fs');
  const { packageManager = '' } = ((await jsonOf(root, 'package.json')) ?? {}) as { packageManager?: string };
  if (packageManager !== '') return !packageManager.startsWith('npm@');
  return ['pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'].some((lock) =>
    existsSync(`${root}/${lock}`),
  );
}
