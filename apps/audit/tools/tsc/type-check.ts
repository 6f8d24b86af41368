import { join, relative, sep } from 'node:path';
import type { Note } from '@orrery/ralph-loop';
import { readSource } from '@orrery/ralph-loop/findings/read-source';
import type { Diagnostic, Program } from 'typescript/unstable/async';
import type { Hit, ToolJob, ToolResult } from '../../tool.ts';
import { isAside } from '../aside.ts';
import { checkedConfig } from './checked-config.ts';
import { Compiler, CompilerOvergrown } from './compiler.ts';
import { isFixture, isOlderTypeScript, projectsOf } from './projects.ts';

/** The most errors of a project that are listed. Nobody would act on a longer list. */
const MAX_ERRORS = 100;
const MAX_MEMORY_MB = 3_072;
/** The longest message, characters. The rest repeats types in full. */
const MAX_MESSAGE = 300;

/** The compiler's code for a project without files. */
const NO_INPUTS = 18003;
/** Codes for configurations that cannot be read. */
const UNREADABLE_CONFIG = new Set([5083, 6053]);
/** Codes for imports that cannot be resolved. */
const UNRESOLVED = new Set([2307, 2792, 2882]);
/** Codes for missing types of the platform, a test runner or JSX. */
const MISSING_TYPES = new Set([2688, 2875, 2503, 2580, 2581, 2582, 2584, 2591, 2592, 2593, 2868, 7026]);
/** Codes for packages without types, and for calls of namespaces without esModuleInterop. */
const NOBODYS_FAULT = new Set([7016, 2349, 2351, 7038]);
const ERROR = 1;

export interface TypesCheckOptions {
  /** Memory limit of the compiler's process, MB. @default 3072 */
  readonly maxMemoryMb?: number;
  /** Interval of memory checks, milliseconds. @default 1,000 */
  readonly lookEveryMs?: number;
}

interface Project {
  /** Path of its configuration, relative to the root. */
  readonly config: string;
  /** Its files, relative to the root. */
  readonly files: readonly string[];
  /** Path of the configuration for the compiler. */
  readonly checked: string;
}

/** Checks all projects of a repository. Each file is checked by the project nearest to it. */
export class TypesCheck {
  readonly #job: ToolJob;
  readonly #progress: (done: number, of: number) => void;
  readonly #options: TypesCheckOptions;
  readonly #asked: ReadonlySet<string>;
  readonly #notes: Note[] = [];
  /** Errors by file, for files that have any. */
  readonly #errors = new Map<string, readonly Diagnostic[]>();
  readonly #seen = new Set<string>();
  #done = 0;
  #all = 0;

  constructor(job: ToolJob, progress: (done: number, of: number) => void, options: TypesCheckOptions = {}) {
    this.#job = job;
    this.#progress = progress;
    this.#options = options;
    this.#asked = new Set(job.files);
  }

  async run(): Promise<ToolResult> {
    const configs = projectsOf(this.#job.root, this.#job.files);
    if (configs.length === 0) this.#note('no-project', 'there is no tsconfig.json: nothing was checked');
    else await this.#checkAll(configs);
    return {
      hits: [...this.#errors].flatMap(([file, errors]) => this.#hitsIn(file, errors)),
      notes: this.#notes,
      filesSeen: this.#seen.size,
    };
  }

  async #checkAll(configs: readonly string[]): Promise<void> {
    try {
      await using compiler = new Compiler(this.#job.root, { maxMemoryMb: MAX_MEMORY_MB, ...this.#options });
      const projects = await this.#parse(compiler, configs);
      const taken = new Set<string>();
      const own = projects.map((project) => ({
        ...project,
        files: project.files.filter((file) => !taken.has(file) && taken.add(file)),
      }));
      this.#all = taken.size;
      for (const project of own) await this.#check(compiler, project);
      for (const project of projects) await this.#recheck(compiler, project, own);
    } catch (error) {
      if (!(error instanceof CompilerOvergrown)) throw error;
      this.#note(
        'memory',
        `${error.message}: ${this.#all - this.#seen.size} of ${this.#all} files were not checked`,
      );
    }
  }

  async #parse(compiler: Compiler, configs: readonly string[]): Promise<Project[]> {
    const projects: Project[] = [];
    for (const config of configs) {
      const path = join(this.#job.root, config);
      const parsed = await compiler.parse(path);
      const { path: checked, text } = checkedConfig(path, parsed, isOlderTypeScript(this.#job.root, config));
      compiler.files.makeUp(checked, text);
      const files = parsed.fileNames
        .map((file) => relative(this.#job.root, file).split(sep).join('/'))
        .filter((file) => this.#asked.has(file) && !isFixture(file));
      projects.push({ config, files, checked });
    }
    return projects;
  }

  async #check(compiler: Compiler, project: Project): Promise<void> {
    if (project.files.length === 0) return;
    const errors = await this.#errorsIn(compiler, project, () => this.#progress(++this.#done, this.#all));
    if (errors === undefined) return;
    for (const file of project.files) this.#seen.add(file);
    for (const [file, ofFile] of errors) if (ofFile.length > 0) this.#errors.set(file, ofFile);
  }

  /**
   * Checks files with errors again in other projects that list them, such as that of the tests. Only errors of both remain.
   */
  async #recheck(compiler: Compiler, project: Project, own: readonly Project[]): Promise<void> {
    const checkedHere = new Set(own.find(({ config }) => config === project.config)?.files);
    const files = project.files.filter((file) => this.#errors.has(file) && !checkedHere.has(file));
    if (files.length === 0) return;
    const errors = await this.#errorsIn(compiler, { ...project, files }, () => undefined);
    for (const [file, ofFile] of errors ?? []) {
      const same = this.#errors
        .get(file)
        ?.filter((one) => ofFile.some((other) => other.pos === one.pos && other.code === one.code));
      if (same !== undefined && same.length > 0) this.#errors.set(file, same);
      else this.#errors.delete(file);
    }
  }

  /** The errors to report, by file; undefined if the project could not be checked. */
  #errorsIn(
    compiler: Compiler,
    { config, checked, files }: Project,
    advance: () => void,
  ): Promise<Map<string, readonly Diagnostic[]> | undefined> {
    return compiler.inProject(checked, async ({ program }) => {
      if (await this.#isBroken(compiler, program, config)) return undefined;
      const syntax = new Map<string, readonly Diagnostic[]>();
      const types = new Map<string, readonly Diagnostic[]>();
      for (const file of files) {
        const path = join(this.#job.root, file);
        // Only the first, because others follow from it.
        const [first] = await compiler.ask(() => program.getSyntacticDiagnostics(path));
        syntax.set(file, first === undefined ? [] : [asSyntax(first)]);
        const semantic = await compiler.ask(() => program.getSemanticDiagnostics(path));
        types.set(
          file,
          semantic.filter(({ category }) => category === ERROR),
        );
        advance();
      }
      return this.#isRated(config, [...types.values()].flat()) ? merged(syntax, types) : syntax;
    });
  }

  async #isBroken(compiler: Compiler, program: Program, config: string): Promise<boolean> {
    const faults = [
      ...(await compiler.ask(() => program.getConfigFileParsingDiagnostics())),
      ...(await compiler.ask(() => program.getProgramDiagnostics())),
    ].filter(({ category }) => category === ERROR);
    const unreadable = faults.find(({ code }) => UNREADABLE_CONFIG.has(code));
    const [first] = faults.filter(({ code }) => code !== NO_INPUTS && !MISSING_TYPES.has(code));
    const missing = faults.find(({ code }) => MISSING_TYPES.has(code));
    if (unreadable !== undefined)
      this.#note(
        'unresolved-config',
        `what it extends or names is not here, so its files are not rated: ${this.#messageOf(unreadable)}`,
        config,
      );
    else if (first !== undefined)
      this.#note('unusable-config', `its files are not rated: ${this.#messageOf(first)}`, config);
    else if (missing !== undefined)
      this.#note(
        'not-installed',
        `packages are missing, so its files are not rated: ${this.#messageOf(missing)}`,
        config,
      );
    return faults.length > 0;
  }

  #isRated(config: string, errors: readonly Diagnostic[]): boolean {
    const missing = errors.find((error) => MISSING_TYPES.has(error.code) || isMissingPackage(error));
    if (missing !== undefined) {
      this.#note(
        'not-installed',
        `packages are missing, so types are not rated: ${this.#messageOf(missing)}`,
        config,
      );
      return false;
    }
    if (errors.filter(isRatable).length <= MAX_ERRORS) return true;
    this.#note(
      'many-errors',
      `the compiler finds ${errors.length} errors in it: run tsc, and mend them together`,
      config,
    );
    return false;
  }

  #hitsIn(file: string, errors: readonly Diagnostic[]): Hit[] {
    const read = readSource(this.#job.root, file);
    if ('skipped' in read) return [];
    return errors.map((error) => ({
      rule: isSyntax(error) ? `tsc/syntax-TS${error.code}` : `tsc/TS${error.code}`,
      severity: isSyntax(error) && !isAside(file) ? 'high' : 'medium',
      file,
      ...read.source.positionAt(error.pos),
      message: `The compiler refuses this (TS${error.code}): ${this.#messageOf(error)}`,
    }));
  }

  #messageOf({ text, messageChain = [] }: Diagnostic): string {
    const [because] = messageChain;
    const message = because === undefined ? text : `${text} ${because.text}`;
    return message.replaceAll(this.#job.root + sep, '').slice(0, MAX_MESSAGE);
  }

  #note(kind: string, reason: string, file?: string): void {
    this.#notes.push({ kind, reason, ...(file === undefined ? {} : { file }) });
  }
}

const SYNTAX = Symbol('syntax');
const asSyntax = (diagnostic: Diagnostic): Diagnostic => Object.assign({ ...diagnostic }, { [SYNTAX]: true });
const isSyntax = (diagnostic: Diagnostic): boolean => SYNTAX in diagnostic;

/** The module that an error names first. One with a dot at its start is a file of the repository. */
const moduleIn = ({ text }: Diagnostic): string => /'([^']+)'/.exec(text)?.[1] ?? '';
const isMissingPackage = (error: Diagnostic): boolean =>
  UNRESOLVED.has(error.code) && !moduleIn(error).startsWith('.');

/** Whether an unresolved import is for the bundler, such as a style sheet, or made by a build. */
const isOfTheBuild = (error: Diagnostic): boolean =>
  UNRESOLVED.has(error.code) &&
  (/\.(?![cm]?[jt]sx?$|json$)\w+$/.test(moduleIn(error)) ||
    /(^|\/)(dist|build|lib|out|generated|\.\w+)\//.test(moduleIn(error).replace(/^(\.\.?\/)+/, '')));

const isRatable = (error: Diagnostic): boolean => !NOBODYS_FAULT.has(error.code) && !isOfTheBuild(error);

const merged = (
  syntax: Map<string, readonly Diagnostic[]>,
  types: Map<string, readonly Diagnostic[]>,
): Map<string, readonly Diagnostic[]> =>
  new Map(
    [...syntax].map(([file, errors]) => [
      file,
      [...errors, ...(errors.length > 0 ? [] : (types.get(file) ?? []).filter(isRatable))],
    ]),
  );
