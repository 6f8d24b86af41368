import type { ModuleResolutionCache, Program, SourceFile } from 'typescript';
import type { BoundedFiles } from './bounded-files.ts';
import { ts } from './typescript.ts';

/** Names that @types/node declares; without it their types are `any`. */
const PLATFORM =
  /\b(?:process|Buffer|NodeJS|__dirname|__filename|require|module|global|setTimeout|setInterval|console)\b/;

/**
 * The files whose types depend on something that is not there, directly or through what they import: a package that is not
 * installed, the platform's declarations, a file that was left out of the program.
 *
 * What the compiler does not know is `any`, and inference spreads that as `unknown`, `never` and missing returns.
 */
export function taintedFiles(program: Program, files: BoundedFiles): ReadonlySet<string> {
  const own = program.getSourceFiles().filter(({ fileName }) => files.isOwn(fileName));
  const options = program.getCompilerOptions();
  const cache = ts.createModuleResolutionCache(program.getCurrentDirectory(), (name) => name, options);
  const importers = new Map<string, string[]>();
  const tainted = new Set<string>();
  for (const file of own) {
    const { targets, isLacking } = importsOf(file, program, { files, cache });
    if (isLacking || PLATFORM.test(file.text)) tainted.add(file.fileName);
    for (const target of targets) importers.set(target, [...(importers.get(target) ?? []), file.fileName]);
  }
  // A set is walked over what is added meanwhile.
  for (const name of tainted) for (const importer of importers.get(name) ?? []) tainted.add(importer);
  return tainted;
}

interface Lookup {
  readonly files: BoundedFiles;
  readonly cache: ModuleResolutionCache;
}

/** The own files that a file imports, and whether it imports something that is not there. */
function importsOf(file: SourceFile, program: Program, { files, cache }: Lookup) {
  const targets: string[] = [];
  let isLacking = false;
  for (const { fileName: specifier } of ts.preProcessFile(file.text, true, true).importedFiles) {
    const mode = file.impliedNodeFormat;
    const options = program.getCompilerOptions();
    const found = ts.resolveModuleName(specifier, file.fileName, options, files.host, cache, undefined, mode);
    const path = found.resolvedModule?.resolvedFileName;
    if (path === undefined) isLacking ||= !specifier.startsWith('.');
    else if (program.getSourceFile(path) === undefined) isLacking = true;
    else if (files.isOwn(path)) targets.push(path);
  }
  return { targets, isLacking };
}
