import { dirname, join } from 'node:path';
import type { CompilerOptions, Diagnostic, ParsedCommandLine } from 'typescript';
import { readSource } from '../../findings/read-source.ts';
import { ts } from './typescript.ts';

/** What the audit decides itself: it writes nothing, builds nothing, and trusts declarations. */
const OVERRIDES: CompilerOptions = {
  noEmit: true,
  composite: false,
  incremental: false,
  skipLibCheck: true,
  skipDefaultLibCheck: true,
  noErrorTruncation: false,
  // That an option is on its way out is no defect of the repository.
  ignoreDeprecations: '6.0',
};

/** What version 6 changed for configurations that are silent about it. */
const DEFAULTS_BEFORE_6: CompilerOptions = {
  strict: false,
  types: ['*'],
  module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.Node10,
  noUncheckedSideEffectImports: false,
};

/** A configuration: its faults, and the project if it can be checked. */
export interface Config {
  readonly faults: readonly Diagnostic[];
  readonly project: ParsedCommandLine | undefined;
}

/** Reads a tsconfig.json and what it extends; JSON only, no plugin is loaded. Both paths are absolute. */
export function readConfig(root: string, path: string): Config {
  const faults: Diagnostic[] = [];
  const project = ts.getParsedCommandLineOfConfigFile(path, OVERRIDES, {
    useCaseSensitiveFileNames: ts.sys.useCaseSensitiveFileNames,
    fileExists: ts.sys.fileExists,
    readDirectory: ts.sys.readDirectory,
    getCurrentDirectory: () => root,
    readFile: (file) => textOf(file),
    onUnRecoverableConfigFileDiagnostic: (fault) => faults.push(fault),
  });
  if (project === undefined) return { faults, project };
  faults.push(...project.errors);
  // Means nothing without `incremental`, which is off.
  delete project.options.tsBuildInfoFile;
  if (asksForVersionBefore6(root, dirname(path))) {
    const { module, moduleResolution, ...silent } = DEFAULTS_BEFORE_6;
    project.options = { ...silent, ...project.options };
    if (project.options.module === undefined && project.options.moduleResolution === undefined) {
      Object.assign(project.options, { module, moduleResolution });
    }
  }
  // A syntax error makes the compiler guess what was meant: what it would say about the files is worth nothing.
  return { faults, project: faults.some(isSyntaxError) ? undefined : project };
}

const isSyntaxError = ({ code }: Diagnostic): boolean => code >= 1000 && code < 2000;

function textOf(path: string): string | undefined {
  const read = readSource(dirname(path), path.slice(dirname(path).length + 1));
  return 'source' in read ? read.source.text : undefined;
}

/** The compiler that the repository has installed or asks for, nearest package.json first; without one, ours. */
function asksForVersionBefore6(root: string, folder: string): boolean {
  for (let at = folder; at.startsWith(root); at = dirname(at)) {
    const installed = json(join(at, 'node_modules/typescript/package.json'))['version'];
    const wanted = json(join(at, 'package.json'));
    const version = [installed, of(wanted['devDependencies']), of(wanted['dependencies'])].find(
      (one) => one !== undefined,
    );
    if (typeof version === 'string') return Number(/\d+/.exec(version)?.[0] ?? 6) < 6;
    if (at === dirname(at)) break;
  }
  return false;
}

const of = (dependencies: unknown): unknown =>
  (dependencies as { typescript?: unknown } | undefined)?.typescript;

function json(path: string): Record<string, unknown> {
  try {
    return JSON.parse(textOf(path) ?? '{}') as Record<string, unknown>;
  } catch {
    return {};
  }
}
