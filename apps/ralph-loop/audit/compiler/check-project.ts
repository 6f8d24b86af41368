import { existsSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import type { CompilerOptions, Diagnostic, ParsedCommandLine, Program, SourceFile } from 'typescript';
import type { MemoryRelief } from '../memory-relief.ts';
import { readSource } from '../../findings/read-source.ts';
import { BoundedFiles, type DeclarationCache, FILE_OVERHEAD_BYTES } from './bounded-files.ts';
import { isDeclarationFile } from './declaration-file.ts';
import { type MemoryBudget, memoryBudget } from './memory-budget.ts';
import { RenewableProgram } from './renewable-program.ts';
import { type Taint, taintedFiles } from './taint.ts';
import { type Trust, trustIn } from './trust.ts';

/** What checking tells, diagnostic by diagnostic, file by file. */
export interface CheckListener {
  found(diagnostic: Diagnostic, trust: Trust): void;
  checked(file: SourceFile): void;
  /** Says whether a file that a program has although it is not listed, by its absolute path, is to be checked too. */
  takesImported(path: string): boolean;
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

/**
 * Checks the types of one project, in as many programs as its size asks for.
 *
 * Each has a part of the files and what these import, so that a part's errors are those of the whole, but for what would
 * not fit; global declarations in a file that is not a declaration file are known to its part only.
 */
export async function checkProject(work: ProjectToCheck, listener: CheckListener): Promise<void> {
  const files = readableFiles(work, listener);
  const budget = memoryBudget({
    usesDom: usesDom(work.project.options),
    text: textOf(files),
  });
  const ambient = work.project.fileNames.filter(isDeclarationFile);
  for (const [index, part] of partsOf(files, budget).entries()) {
    await checkPart(work, { rootNames: [...ambient, ...part], budget, isFirst: index === 0 }, listener);
    await listener.flush();
    await work.memory.collect();
  }
}

interface RootFile {
  readonly path: string;
  readonly bytes: number;
}

/** The files of the project but for declarations, which speak for the whole of it and belong to every part. */
function readableFiles({ root, project }: ProjectToCheck, listener: CheckListener): RootFile[] {
  return project.fileNames.flatMap((path) => {
    if (isDeclarationFile(path)) return [];
    const read = path.startsWith(root + sep) ? readSource(root, path.slice(root.length + 1)) : OUTSIDE;
    if ('source' in read) return [{ path, bytes: read.bytes }];
    listener.skipped(read.skipped, read.reason, path);
    return [];
  });
}

/** All files if they fit into one program, else as many after each other as may. */
function partsOf(files: readonly RootFile[], { wholeText, rootText }: MemoryBudget): string[][] {
  const bound = textOf(files) <= wholeText ? wholeText : rootText;
  const parts: string[][] = [];
  let text = Number.POSITIVE_INFINITY;
  for (const file of files) {
    const own = textOf([file]);
    const isFull = text + own > bound;
    if (isFull) parts.push([]);
    text = isFull ? own : text + own;
    parts.at(-1)?.push(file.path);
  }
  return parts;
}

const textOf = (files: readonly RootFile[]): number =>
  files.reduce((total, { bytes }) => total + bytes + FILE_OVERHEAD_BYTES, 0);

const usesDom = ({ lib, noLib }: CompilerOptions): boolean =>
  noLib !== true && (lib === undefined || lib.some((name) => /dom|webworker/i.test(name)));

const OUTSIDE = { skipped: 'outside', reason: 'is outside of the repository' } as const;

const NO_FILES: ReadonlyMap<string, Taint> = new Map();

interface Part {
  readonly rootNames: readonly string[];
  readonly budget: MemoryBudget;
  readonly isFirst: boolean;
}

async function checkPart(work: ProjectToCheck, part: Part, listener: CheckListener): Promise<void> {
  const { rootNames, budget, isFirst } = part;
  const { root, declarations, project } = work;
  const { options } = project;
  const files = new BoundedFiles({ root, rootNames, options, declarations, budget });
  const programs = new RenewableProgram(
    { rootNames, options, host: files.host },
    { files, memory: work.memory, checkerBytes: budget.checker },
  );
  declarations.end();
  const isInstalled = hasPackages(work.config);
  const isWhole = isInstalled && !files.lacksPackages && files.refused.size === 0;
  const tainted = isWhole ? NO_FILES : taintedFiles(programs.current, files);
  const check = (diagnosticsIn: (program: Program) => readonly Diagnostic[]): void => {
    const context = { program: programs.current, files, hasPackages: isInstalled, tainted };
    for (const found of diagnosticsIn(context.program)) listener.found(found, trustIn(found, context));
  };
  if (isFirst) check(generalDiagnostics);
  for (const name of [...rootNames, ...importedBy(programs.current, rootNames, listener)]) {
    await programs.relieve();
    // No program in a variable here: this function waits, and what it holds meanwhile is not collected.
    check((program) => checkFile(program, name, listener));
  }
  if (files.lacksPackages)
    listener.skipped('packages-left-out', 'declarations of packages did not all fit', work.config);
  const refused = rootNames.filter((name) => files.refused.has(name));
  for (const name of refused)
    listener.skipped('not-checked', 'does not fit into the program, or is nested too deeply', name);
}

function importedBy(program: Program, rootNames: readonly string[], listener: CheckListener): string[] {
  const listed = new Set(rootNames);
  return program
    .getSourceFiles()
    .map(({ fileName }) => fileName)
    .filter((name) => !listed.has(name) && listener.takesImported(name));
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
