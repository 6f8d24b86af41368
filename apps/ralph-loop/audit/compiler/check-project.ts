import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Diagnostic, ParsedCommandLine, Program, SourceFile } from 'typescript';
import type { MemoryRelief } from '../memory-relief.ts';
import { MAX_FILE_BYTES } from '../read-source.ts';
import { BoundedFiles, type DeclarationCache } from './bounded-files.ts';
import { RenewableProgram } from './renewable-program.ts';
import { type Trust, trustIn } from './trust.ts';

/** Root files of one program; a larger project is checked in several, each with what its files import. */
const MAX_PROGRAM_FILES = 3_000;
const MAX_ROOT_BYTES = 1536 * 1024;

/** What checking tells, diagnostic by diagnostic, file by file. */
export interface CheckListener {
  found(diagnostic: Diagnostic, trust: Trust): void;
  checked(file: SourceFile): void;
  skipped(kind: string, reason: string, path?: string): void;
  /** The end of a program, after which its files are forgotten. */
  flush(): Promise<void>;
}

export interface ProjectToCheck {
  readonly root: string;
  /** The absolute path of its tsconfig.json. */
  readonly config: string;
  readonly project: ParsedCommandLine;
  readonly declarations: DeclarationCache;
  readonly memory: MemoryRelief;
}

/** Checks the types of one project, in as many programs as its size asks for. */
export async function checkProject(work: ProjectToCheck, listener: CheckListener): Promise<void> {
  const parts = partsOf(work.project.fileNames);
  if (parts.length > 1) {
    const reason = `too large for one program; checked in ${parts.length} parts, and what needs more than a part may be missed`;
    listener.skipped('large-project', reason, work.config);
  }
  for (const [index, part] of parts.entries()) {
    await checkPart(work, { rootNames: part, isFirst: index === 0 }, listener);
    await listener.flush();
    await work.memory.collect();
  }
}

/** Files by files, in order; declarations, which speak for the whole project, belong to every part. */
function partsOf(files: readonly string[]): string[][] {
  const declarations = files.filter((file) => isDeclaration(file));
  const parts: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const file of files) {
    if (isDeclaration(file)) continue;
    const size = Math.min(sizeOf(file), MAX_FILE_BYTES);
    const isFull = bytes + size > MAX_ROOT_BYTES || (parts.at(-1)?.length ?? 0) >= MAX_PROGRAM_FILES;
    if (isFull) parts.push([...declarations]);
    bytes = isFull ? size : bytes + size;
    parts.at(-1)?.push(file);
  }
  return parts;
}

const isDeclaration = (file: string): boolean => /\.d\.([^./]+\.)?[cm]?ts$/.test(file);

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

interface Part {
  readonly rootNames: readonly string[];
  readonly isFirst: boolean;
}

async function checkPart(work: ProjectToCheck, { rootNames, isFirst }: Part, listener: CheckListener): Promise<void> {
  const { options, projectReferences } = work.project;
  const files = new BoundedFiles(work.root, options, work.declarations);
  const references = projectReferences === undefined ? {} : { projectReferences };
  const programs = new RenewableProgram({ rootNames, options, host: files.host, ...references }, work.memory);
  const isInstalled = hasPackages(work.config);
  for (const [index, name] of rootNames.entries()) {
    const program = await programs.ready();
    const context = { program, files, hasPackages: isInstalled };
    const general = isFirst && index === 0 ? generalDiagnostics(program) : [];
    const ofFile = checkFile(program, name, listener);
    for (const diagnostic of [...general, ...ofFile]) listener.found(diagnostic, trustIn(diagnostic, context));
  }
  const refused = rootNames.filter((name) => files.refused.has(name));
  for (const name of refused) listener.skipped('not-checked', 'is binary, unreadable, too large or nested too deeply', name);
}

const generalDiagnostics = (program: Program): readonly Diagnostic[] => [
  ...program.getOptionsDiagnostics(),
  ...program.getGlobalDiagnostics(),
];

function checkFile(program: Program, name: string, listener: CheckListener): readonly Diagnostic[] {
  const file = program.getSourceFile(name);
  if (file === undefined || file.isDeclarationFile) return [];
  try {
    const found = diagnosticsOf(program, file);
    listener.checked(file);
    return found;
  } catch (error) {
    listener.skipped('checker-failed', `the compiler failed: ${(error as Error).message}`, name);
    return [];
  }
}

/** What is said about the types of a file that cannot be parsed follows from that. */
function diagnosticsOf(program: Program, file: SourceFile): readonly Diagnostic[] {
  const syntactic = program.getSyntacticDiagnostics(file);
  return syntactic.length > 0 ? syntactic : program.getSemanticDiagnostics(file);
}

/** Whether packages are installed anywhere the project at `config`, an absolute path, would look. */
export function hasPackages(config: string): boolean {
  for (let at = dirname(config); ; at = dirname(at)) {
    if (existsSync(join(at, 'node_modules'))) return true;
    if (at === dirname(at)) return false;
  }
}
