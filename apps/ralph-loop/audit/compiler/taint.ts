import type { ModuleResolutionCache, Program, SourceFile } from 'typescript';
import type { BoundedFiles } from './bounded-files.ts';
import { ts } from './typescript.ts';

/** Names that @types/node declares; without it their types are `any`. */
const PLATFORM =
  /\b(?:process|Buffer|NodeJS|__dirname|__filename|require|module|global|setTimeout|setInterval|console)\b/;

/**
 * Why not everything about a file's types is known: `missing` is a package that is not installed, or the platform's
 * declarations; `unloaded` something that is there, but was left out of the program, which is no fault of the repository.
 */
export type Taint = 'missing' | 'unloaded';

/**
 * The files whose types depend on something that the program does not have, directly or through what they import.
 *
 * What the compiler does not know is `any`, and inference spreads that as `unknown`, `never` and missing returns.
 */
export function taintedFiles(program: Program, files: BoundedFiles): ReadonlyMap<string, Taint> {
  const own = program.getSourceFiles().filter(({ fileName }) => files.isOwn(fileName));
  const options = program.getCompilerOptions();
  const cache = ts.createModuleResolutionCache(program.getCurrentDirectory(), (name) => name, options);
  const importers = new Map<string, string[]>();
  const lacking: Readonly<Record<Taint, Set<string>>> = { missing: new Set(), unloaded: new Set() };
  for (const file of own) {
    const { targets, lacks } = importsOf(file, program, { files, cache });
    if (PLATFORM.test(file.text)) lacks.add(files.lacksPackages ? 'unloaded' : 'missing');
    for (const taint of lacks) lacking[taint].add(file.fileName);
    for (const target of targets) importers.set(target, [...(importers.get(target) ?? []), file.fileName]);
  }
  const tainted = new Map<string, Taint>();
  // The graver one last: it is the one that stays.
  for (const taint of ['missing', 'unloaded'] as const)
    for (const name of withImporters(lacking[taint], importers)) tainted.set(name, taint);
  return tainted;
}

function withImporters(
  names: Set<string>,
  importers: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  // A set is walked over what is added meanwhile.
  for (const name of names) for (const importer of importers.get(name) ?? []) names.add(importer);
  return names;
}

interface Lookup {
  readonly files: BoundedFiles;
  readonly cache: ModuleResolutionCache;
}

/** The own files that a file imports, and what it imports that the program does not have. */
function importsOf(file: SourceFile, program: Program, { files, cache }: Lookup) {
  const targets: string[] = [];
  const lacks = new Set<Taint>();
  for (const { fileName: specifier } of ts.preProcessFile(file.text, true, true).importedFiles) {
    const path = resolvedPath(specifier, file, program, { files, cache });
    if (path === undefined) {
      if (!specifier.startsWith('.')) lacks.add('missing');
    } else if (program.getSourceFile(path) === undefined) lacks.add(hasTypes(path) ? 'unloaded' : 'missing');
    else if (files.isOwn(path)) targets.push(path);
  }
  return { targets, lacks };
}

/** A package that is only JavaScript has no types to be left out. */
export const hasTypes = (path: string): boolean => /\.[cm]?tsx?$/.test(path);

/** The file that an import means, whether or not the program has it. */
export function resolvedPath(
  specifier: string,
  file: SourceFile,
  program: Program,
  { files, cache }: { readonly files: BoundedFiles; readonly cache?: ModuleResolutionCache },
): string | undefined {
  const options = program.getCompilerOptions();
  const mode = file.impliedNodeFormat;
  const found = ts.resolveModuleName(specifier, file.fileName, options, files.host, cache, undefined, mode);
  return found.resolvedModule?.resolvedFileName;
}
