import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { API, type Project } from 'typescript/unstable/async';
import { MemoryWatch } from '../memory-watch.ts';
import { ConfinedFiles } from './confined-files.ts';
import { SpawnedCompiler } from './spawned-compiler.ts';

/** The name of the compiler's program. */
const PROGRAM = 'tsc';

/** The heap goal of the compiler's garbage collector. */
const HEAP_GOAL = '2GiB';

/** A configuration as the compiler has parsed it. */
export interface ParsedConfig {
  readonly options: Readonly<Record<string, unknown>>;
  readonly fileNames: readonly string[];
}

export interface CompilerOptions {
  readonly maxMemoryMb: number;
  /** Interval of memory checks, milliseconds. @default 1,000 */
  readonly lookEveryMs?: number;
}

/**
 * TypeScript's compiler in a process of its own, which sees only `ConfinedFiles`, and prints and writes nothing.
 *
 * Its interface is called unstable, so the version is pinned and tested.
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

  /** Loads a project, calls `work` with it, and closes it. `work` must send all requests to the compiler through `ask`. */
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
   * Sends a request to the compiler, unless it was ended. A request after that would end this process by an unhandled
   * rejection, or start another compiler. Rejects with `CompilerOvergrown`.
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

/** The error when the compiler was ended because of its memory. */
export class CompilerOvergrown extends Error {
  constructor(maxMemoryMb: number) {
    super(`the compiler needs more than ${maxMemoryMb} MB of memory`);
  }
}
