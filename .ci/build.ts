/**
 * Builds the package into dist/, which is what is packed and published: `npm pack ./dist`.
 *
 * - JavaScript: one file an entry, and chunks that entries share, so that a thread opens few files. Names and comments stay,
 *   so that stack traces and the code they lead to can be read. Packages are imported, not bundled; an entry that cannot do
 *   without optional ones asks for them first.
 * - types: tsc's, a file a module, below dist/types; not with `--without-types`.
 * - the visualiser's page, below dist/visualiser.
 * - the manifest: package.json without what only this repository has a use for.
 *
 * An entry is what package.json exports, what `new URL('./file.ts', import.meta.url)` in the sources leads to, and what
 * PROGRAMS lists. A command is a line there; what it imports of `@orrery/*` is bundled, and dist/package.json gets its `bin`.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { ENTRY_PACKAGES } from '../runtime/protocol/optional-packages.ts';
import { type Manifest, publishedManifest } from './published-manifest.ts';

const OUT = 'dist';
/** Commands by name: the source of each, which looks at Node's version itself. */
const PROGRAMS: Readonly<Record<string, string>> = { orrery: 'apps/cli/orrery.ts' };
/** Files that commands write elsewhere. */
const TEMPLATE = 'apps/cli/template';
/**
 * Who loads the runtime: every thread, the one in control (without zod), those that agents live in; every process of an
 * agent, the thread in it that watches the host, and what its agent needs; and whoever starts a system.
 */
const LOADERS = [
  ['thread', 'worker.ts'],
  ['control', 'runtime/control/control.ts'],
  ['place', 'runtime/system/boot-node.ts'],
  ['process', 'process.ts'],
  ['lifeline', 'runtime/processes/child/lifeline.worker.ts'],
  ['child', 'runtime/processes/child/boot-process.ts'],
  ['agent', 'index.ts'],
  ['embedder', 'start-team.ts'],
] as const;
/** Says which Node is needed. Every entry imports it first, so that nothing else can fail before. */
const NODE_CHECK = { source: 'runtime/require-node.ts', file: 'require-node.js' };
/** Says which packages are missing. */
const PEER_CHECK = { source: 'runtime/protocol/optional-packages.ts', file: 'require-packages.js' };
/** The manifest is read where it lies, and the audit is not part of the package. */
const OWN = /^(\.|\/|\0|orrery(\/(?!package\.json)|$)|@orrery\/(?!audit))/;
const ENTRY_URL = /new URL\(\s*'(\.{1,2}\/[^'$]+\.ts)',\s*import\.meta\.url,?\s*\)/g;

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

rmSync(OUT, { recursive: true, force: true });
const chunks = await bundle();
askForPeers(chunks);
if (!process.argv.includes('--without-types')) declareTypes();
writeManifest();
buildPage();
console.log(`${chunks.length} files of JavaScript built`);

/** What is written for each source that is an entry. */
function entries(): ReadonlyMap<string, string> {
  const exported = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string'
      ? []
      : [[resolve(target['orrery-source']), relative(OUT, target.default)] as const],
  );
  const programs = Object.entries(PROGRAMS).map(
    ([name, source]) => [resolve(source), `bin/${name}.js`] as const,
  );
  const checks = [NODE_CHECK, PEER_CHECK].map(({ source, file }) => [resolve(source), file] as const);
  return new Map([...exported, ...programs, ...checks]);
}

async function bundle(): Promise<readonly OutputChunk[]> {
  const build = await rolldown({
    input: {},
    platform: 'node',
    // Chunks may; entries say otherwise for themselves.
    preserveEntrySignatures: 'allow-extension',
    resolve: { conditionNames: ['orrery-source', 'node', 'import', 'default'] },
    external: (id) => !OWN.test(id),
    plugins: [entryFiles(entries())],
  });
  let loads: readonly (readonly [string, ReadonlySet<string>])[] | undefined;
  const { output } = await build.write({
    dir: OUT,
    format: 'es',
    keepNames: true,
    chunkFileNames: 'chunks/[name].js',
    banner: ({ isEntry, fileName }) => {
      if (!isEntry || fileName === NODE_CHECK.file) return '';
      if (fileName.startsWith('bin/')) return '#!/usr/bin/env node';
      return `import "${pathFrom(fileName, NODE_CHECK.file)}";`;
    },
    // The runtime is many small files that nearly everybody needs. They are put together by who of these loads them, not by
    // all who might: whoever imports another file is loaded by no more of them than that, so no two chunks need each other.
    codeSplitting: {
      groups: [
        {
          test: /\/runtime\//,
          debugName: 'runtime',
          includeDependenciesRecursively: false,
          name: (id, graph) => {
            const imported = (module: string): readonly string[] =>
              graph.getModuleInfo(module)?.importedIds ?? [];
            loads ??= LOADERS.map(
              ([name, source]) => [name, reachedFrom(resolve(source), imported)] as const,
            );
            const names = loads.filter(([, ids]) => ids.has(id)).map(([name]) => name);
            return names.length === 0 ? null : `runtime-of-${names.join('-')}`;
          },
        },
      ],
    },
  });
  await build.close();
  return output.filter((file) => file.type === 'chunk');
}

/** Has each entry written to the file that others look for it in, and leads every URL of a source to the file made of it. */
function entryFiles(known: ReadonlyMap<string, string>): Plugin {
  const references = new Map<string, string>();
  return {
    name: 'entry-files',
    buildStart() {
      for (const [id, fileName] of known)
        references.set(id, this.emitFile({ type: 'chunk', id, fileName, preserveSignature: 'strict' }));
    },
    transform(code, importer) {
      if (!ENTRY_URL.test(code)) return null;
      return code.replaceAll(ENTRY_URL, (_url, path: string) => {
        const id = resolve(dirname(importer), path);
        const fileName = `${basename(id, '.ts')}.js`;
        const reference = references.get(id) ?? this.emitFile({ type: 'chunk', id, fileName });
        references.set(id, reference);
        return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`;
      });
    },
  };
}

/** Where one comes from a start, which is with it. */
function reachedFrom(start: string, next: (at: string) => readonly string[]): ReadonlySet<string> {
  const reached = new Set([start]);
  for (const at of reached) for (const other of next(at)) reached.add(other);
  return reached;
}

/**
 * Of packages that are not there Node names the first, before any code of ours runs. So an entry with optional packages is
 * loaded by another file, which asks for all of them. It does so in one go, for a module that awaits cannot be required.
 */
function askForPeers(chunks: readonly OutputChunk[]): void {
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const importsOf = (file: string): readonly string[] => byFile.get(file)?.imports ?? [];
  const peers = Object.keys(manifest['peerDependencies'] as object);
  for (const [name, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'string') continue;
    const file = relative(OUT, target.default);
    const loadedWith = [...reachedFrom(file, importsOf)].filter((one) => !byFile.has(one));
    const packages = new Set(loadedWith.map((one) => /^(?:@[^/]+\/)?[^/]+/.exec(one)?.[0]));
    const needed = peers.filter((peer) => packages.has(peer)).toSorted();
    const entry = name.replace('.', String(manifest['name']));
    const known = ENTRY_PACKAGES[entry] ?? [];
    if (needed.join() !== known.toSorted().join())
      throw new Error(
        `${entry} loads ${needed.join(', ') || 'no optional package'}, ENTRY_PACKAGES says ${known.join(', ') || 'none'}`,
      );
    if (needed.length === 0) continue;
    const loaded = `${basename(file, '.js')}-with-packages.js`;
    renameSync(join(OUT, file), join(OUT, dirname(file), loaded));
    const text = `import "${pathFrom(file, NODE_CHECK.file)}";
import nodeModule from "node:module";
import { requirePackages } from "${pathFrom(file, PEER_CHECK.file)}";
requirePackages("${entry}", ${JSON.stringify(needed)});
export const { ${byFile.get(file)?.exports.join(', ')} } = nodeModule.createRequire(import.meta.url)("./${loaded}");
`;
    writeFileSync(join(OUT, file), text);
  }
}

/** How one built file imports another. */
function pathFrom(file: string, other: string): string {
  const path = relative(dirname(file), other);
  return path.startsWith('.') ? path : `./${path}`;
}

/** The visualiser's page, which is served from there. */
function buildPage(): void {
  const args = ['--conditions=orrery-source', 'apps/visualiser/build-page.ts', resolve(OUT, 'visualiser')];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Whether the types hold is `check:types`' matter. */
function declareTypes(): void {
  const { status } = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function writeManifest(): void {
  const bin = Object.fromEntries(Object.keys(PROGRAMS).map((name) => [name, `./bin/${name}.js`]));
  for (const file of Object.values(bin)) chmodSync(join(OUT, file), 0o755);
  writeFileSync(join(OUT, 'package.json'), `${JSON.stringify(publishedManifest(manifest, bin), null, 2)}\n`);
  cpSync(TEMPLATE, join(OUT, TEMPLATE), { recursive: true });
  for (const file of ['README.md', 'LICENSE']) copyFileSync(file, join(OUT, file));
}
