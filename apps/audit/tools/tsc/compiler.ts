import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { API, type Project } from 'typescript/unstable/async';
import { MemoryWatch } from '../memory-watch.ts';
import { ConfinedFiles } from './confined-files.ts';
import { SpawnedCompiler } from './spawned-compiler.ts';

/** The name of its program. */
const PROGRAM = 'tsc';

/** Its garbage collector keeps to this while it can. */
const HEAP_GOAL = '2GiB';

/** What the compiler is asked of one configuration before anything is loaded. */
export interface ParsedConfig {
  readonly options: Readonly<Record<string, unknown>>;
  readonly fileNames: readonly string[];
}

export interface CompilerOptions {
  readonly maxMemoryMb: number;
  /** @default 1000 */
  readonly lookEveryMs?: number;
}

/**
 * TypeScript's own compiler, in a process of its own that sees `ConfinedFiles` alone, prints nothing and writes nothing.
 *
 * Its interface is called unstable: the version is pinned, and the tests run it.
 */
export class Compiler implements AsyncDisposable {
  readonly files: ConfinedFiles;
  readonly #api: API;
  readonly #overgrown = Promise.withResolvers<never>();
  #isOvergrown = false;
  readonly #watch: MemoryWatch;
  readonly #spawned = new SpawnedCompiler(PROGRAM);

  constructor(root: string, { maxMemoryMb, lookEveryMs }: CompilerOptions) {
    const typescript = createRequire(import.meta.url).resolve('typescript/package.json');
    const program = createRequire(typescript).resolve(
      `@typescript/typescript-${process.platform}-${process.arch}/package.json`,
    );
    this.files = new ConfinedFiles(root, dirname(program));
    process.env['GOMEMLIMIT'] = HEAP_GOAL;
    this.#api = new API({ cwd: root, fs: this.files });
    this.#overgrown.promise.catch(() => undefined);
    this.#watch = new MemoryWatch(
      { program: PROGRAM, maxMb: maxMemoryMb, ...(lookEveryMs === undefined ? {} : { lookEveryMs }) },
      () => {
        this.#isOvergrown = true;
        this.#spawned.drop();
        this.#overgrown.reject(new CompilerOvergrown(maxMemoryMb));
      },
    );
  }

  parse(config: string): Promise<ParsedConfig> {
    return this.ask(() => this.#api.parseConfigFile(config));
  }

  /** Calls `work` with a project that is loaded, and lets go of it. Whatever `work` asks the compiler goes through `ask`. */
  async inProject<Answer>(
    config: string,
    work: (project: Project) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const opened = await this.ask(() => this.#api.updateSnapshot({ openProjects: [config] }));
    try {
      const project = opened.getProject(config);
      return project === undefined ? undefined : await work(project);
    } finally {
      await this.ask(() => opened.dispose());
      await this.ask(() => this.#api.updateSnapshot({ closeProjects: [config] }));
    }
  }

  /**
   * Sends the compiler a request, unless it was ended: one that cannot be written any more ends this process with an
   * unhandled rejection, or starts another compiler. Fails with `CompilerOvergrown`.
   */
  ask<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    return this.#isOvergrown ? this.#overgrown.promise : Promise.race([request(), this.#overgrown.promise]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch[Symbol.dispose]();
    this.#spawned[Symbol.dispose]();
    await Promise.race([this.#api.close(), this.#overgrown.promise.catch(() => undefined)]);
  }
}

/** The compiler took more memory than it may, and was ended. */
export class CompilerOvergrown extends Error {
  constructor(maxMemoryMb: number) {
    super(`the compiler needs more than ${maxMemoryMb} MB of memory`);
  }
}
