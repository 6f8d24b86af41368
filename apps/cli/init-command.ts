import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeInitCommand } from './code-init/code-init-command.ts';
import type { CommandDeps } from './command.ts';
import type { TypedOptions } from './run-plan.ts';
import { UsageError } from './usage-error.ts';

/** The folder of the package of this command. */
const PACKAGE = dirname(fileURLToPath(import.meta.resolve('orrery/package.json')));
const TEMPLATE = join(PACKAGE, 'apps/cli/template');
/**
 * Files with another name in the template: npm leaves `.gitignore` out of packages, and would run the test as one of the
 * package.
 */
const NAMES: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  'test/team.ts': 'test/team.test.ts',
};

/** The file that is merged into the folder's package.json. */
const MANIFEST = 'package.template.json';
/** The test script that `npm init` writes, which may be replaced. */
const PLACEHOLDER = 'echo "Error: no test specified" && exit 1';

type JsonObject = Record<string, unknown>;

/**
 * Runs `orrery init`: writes a small team, a mission and a test into a folder, or with `--backend` a mission for a coding agent.
 * It overwrites nothing. Resolves to the exit code.
 */
export async function initCommand(
  options: TypedOptions,
  [folder = '.']: readonly string[],
  deps: Pick<CommandDeps, 'screen' | 'clock'>,
): Promise<number> {
  const { backend } = options;
  if (backend !== undefined) return codeInitCommand(backend, [folder], deps);
  const target = resolve(folder);
  const files = templateFiles();
  refuseWhatIsThere(folder, target, [...files.keys()]);
  const manifest = projectManifest(target);
  for (const [file, text] of files) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    writeFileSync(join(target, file), text, { flag: 'wx' });
  }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  deps.screen.write(whatNow(folder, [...files.keys(), 'package.json'], isInstalled(target, manifest)));
  return 0;
}

/** The texts of the template's files, by path in the folder. */
function templateFiles(): ReadonlyMap<string, string> {
  const paths = readdirSync(TEMPLATE, { recursive: true, encoding: 'utf8' }).sort();
  const files = paths.filter((path) => path !== MANIFEST && statSync(join(TEMPLATE, path)).isFile());
  return new Map(files.map((path) => [NAMES[path] ?? path, readFileSync(join(TEMPLATE, path), 'utf8')]));
}

function refuseWhatIsThere(folder: string, target: string, files: readonly string[]): void {
  const isFolder = statSync(target, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder === false) throw new UsageError(`"${folder}" is not a folder`);
  const there = files.filter((file) => existsSync(join(target, file)));
  if (there.length > 0)
    throw new UsageError(`"${folder}" already has ${there.join(', ')}; init overwrites nothing`);
}

/** The folder's package.json, or a new one, with what the team needs. Throws UsageError. */
function projectManifest(target: string): JsonObject {
  const needed = readManifest(join(TEMPLATE, MANIFEST)) ?? {};
  const found = readManifest(join(target, 'package.json')) ?? newManifest(target);
  const dependencies = { ...objectAt(needed, 'dependencies'), ...objectAt(found, 'dependencies') };
  return {
    ...found,
    type: needed['type'],
    scripts: scriptsOf(found, objectAt(needed, 'scripts')),
    dependencies: { ...dependencies, orrery: dependencies['orrery'] ?? installedAs(target) },
    devDependencies: { ...objectAt(needed, 'devDependencies'), ...objectAt(found, 'devDependencies') },
  };
}

const newManifest = (target: string): JsonObject => ({
  name:
    basename(target)
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, '-')
      .replace(/^[._-]+/, '') || 'team',
  version: '0.1.0',
  private: true,
});

function scriptsOf(manifest: JsonObject, needed: JsonObject): JsonObject {
  const scripts = objectAt(manifest, 'scripts');
  for (const [name, command] of Object.entries(needed)) {
    const there = scripts[name];
    if (there !== undefined && there !== command && there !== PLACEHOLDER)
      throw new UsageError(`package.json already has a script "${name}": ${JSON.stringify(there)}`);
  }
  return { ...scripts, ...needed };
}

/**
 * The dependency on this package in the project that has installed it, relative to `target`. Throws UsageError if there is
 * none.
 */
function installedAs(target: string): string {
  const modules = dirname(PACKAGE);
  const project = dirname(modules);
  const spec =
    basename(modules) === 'node_modules'
      ? objectAt(readManifest(join(project, 'package.json')) ?? {}, 'dependencies')['orrery']
      : undefined;
  if (typeof spec !== 'string')
    throw new UsageError(
      `The team needs orrery as a package. Make one with "npm run build && npm pack ./dist" in ${PACKAGE}, and install that file in the folder of the team first`,
    );
  const file = /^file:(?<path>.+)$/.exec(spec)?.groups?.['path'];
  return file === undefined ? spec : `file:${relative(target, resolve(project, file))}`;
}

function readManifest(path: string): JsonObject | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (isObject(value)) return value;
  } catch {
    // Reported below, like a manifest that is no object.
  }
  throw new UsageError(`${path} is not a JSON object`);
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const objectAt = (from: JsonObject, field: string): JsonObject => {
  const value = from[field];
  return isObject(value) ? value : {};
};

/** Whether all dependencies are installed in the folder. */
const isInstalled = (target: string, manifest: JsonObject): boolean =>
  ['dependencies', 'devDependencies']
    .flatMap((field) => Object.keys(objectAt(manifest, field)))
    .every((name) => existsSync(join(target, 'node_modules', name)));

function whatNow(folder: string, written: readonly string[], hasPackages: boolean): string {
  const steps = [
    ...(resolve(folder) === resolve('.') ? [] : [`cd ${folder}`]),
    ...(hasPackages ? [] : ['npm install']),
    'npm start          runs the mission',
    'npm test           runs the test',
    'npm run check      checks the types',
    'npm run simulate   runs the mission under faults, in virtual time',
  ];
  return [
    `Written to ${folder}:`,
    ...written.map((file) => `  ${file}`),
    '',
    'Now:',
    ...steps.map((step) => `  ${step}`),
    '',
  ].join('\n');
}
