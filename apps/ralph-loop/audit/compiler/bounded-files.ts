import { posix, sep } from 'node:path';
import type {
  CompilerHost,
  CompilerOptions,
  CreateSourceFileOptions,
  ScriptTarget,
  SourceFile,
} from 'typescript';
import { readSource } from '../../findings/read-source.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { ts } from './typescript.ts';

/** The DOM's declarations are the largest there are: 2.3 MB. */
const MAX_PACKAGE_FILE_BYTES = 4 * 1024 * 1024;

/** What a file takes beside its text, however short it is, in bytes of text. */
export const FILE_OVERHEAD_BYTES = 400;

export interface BoundedFilesOptions {
  /** A real path. */
  readonly root: string;
  /** The files to be checked, which are loaded in any case; what they import as far as it fits. */
  readonly rootNames: readonly string[];
  readonly options: CompilerOptions;
  readonly declarations: DeclarationCache;
  readonly budget: MemoryBudget;
}

/** The compiler's view of the disk: bounded, read-only, and every own file read as every other analyser reads it. */
export class BoundedFiles {
  readonly host: CompilerHost;
  /** Own files that were not loaded, because they are too large, binary, unreadable, or over the bounds. */
  readonly refused = new Set<string>();
  /** Whether declarations of packages were left out for being too many. */
  lacksPackages = false;
  readonly #root: string;
  readonly #rootNames: ReadonlySet<string>;
  readonly #budget: MemoryBudget;
  readonly #declarations: DeclarationCache;
  /** A renewed program must get the very same files to take them over. */
  readonly #loaded = new Map<string, SourceFile>();
  #importedBytes = 0;
  #packageBytes = 0;
  #overflowed: string | undefined;

  constructor({ root, rootNames, options, declarations, budget }: BoundedFilesOptions) {
    this.#root = root;
    this.#rootNames = new Set(rootNames);
    this.#budget = budget;
    this.#declarations = declarations;
    declarations.begin(options);
    this.host = {
      ...ts.createCompilerHost(options),
      // Comments are half of a declaration file; only those that silence the compiler matter here.
      jsDocParsingMode: ts.JSDocParsingMode.ParseForTypeErrors,
      readFile: (path) => this.#text(path),
      getSourceFile: (path, language) => this.#sourceFile(path, language),
      writeFile: () => undefined,
    };
  }

  /** Whether the file belongs to the repository rather than to a package or the language. */
  isOwn(path: string): boolean {
    return path.startsWith(this.#root + sep) && !path.includes('/node_modules/');
  }

  /** The own files loaded so far, in the order the compiler came to them. */
  reached(): string[] {
    return [...this.#loaded.keys()].filter((path) => this.isOwn(path));
  }

  /** After a stack overflow that found `before` files reached: whether another attempt is worth it. */
  mayComeFurther(before: number): boolean {
    if (this.reached().length > before) return true;
    if (this.#overflowed === undefined) return false;
    // It was not the chain of imports but this one file, nested some thousand deep.
    this.refused.add(this.#overflowed);
    this.#overflowed = undefined;
    return true;
  }

  #text(path: string): string | undefined {
    const read = readSource(...splitAt(path), this.isOwn(path) ? undefined : MAX_PACKAGE_FILE_BYTES);
    return 'source' in read ? read.source.text : undefined;
  }

  #sourceFile(path: string, language: ScriptTarget | CreateSourceFileOptions): SourceFile | undefined {
    const loaded = this.#loaded.get(path);
    if (loaded !== undefined || this.refused.has(path)) return loaded;
    const file = this.#load(path, language);
    if (file !== undefined) this.#loaded.set(path, file);
    return file;
  }

  #load(path: string, language: ScriptTarget | CreateSourceFileOptions): SourceFile | undefined {
    const isOwn = this.isOwn(path);
    const known = isOwn ? undefined : this.#declarations.get(path);
    if (known !== undefined) return this.#mayLoad(path, known.text.length) ? known : undefined;
    const text = this.#text(path);
    if (text === undefined || !this.#mayLoad(path, text.length)) {
      if (isOwn) this.refused.add(path);
      return undefined;
    }
    try {
      const parsed = ts.createSourceFile(path, text, language, false);
      if (!isOwn) this.#declarations.set(path, parsed);
      return parsed;
    } catch (error) {
      if (error instanceof RangeError) this.#overflowed = path;
      throw error;
    }
  }

  #mayLoad(path: string, bytes: number): boolean {
    if (this.isOwn(path)) {
      if (this.#rootNames.has(path)) return true;
      this.#importedBytes += bytes + FILE_OVERHEAD_BYTES;
      return this.#importedBytes <= this.#budget.importedText;
    }
    // Without the language's own declarations nothing can be said at all; the budget has room for them.
    if (path.startsWith(LANGUAGE)) return true;
    this.#packageBytes += bytes;
    if (this.#packageBytes > this.#budget.packageText) this.lacksPackages = true;
    return !this.lacksPackages;
  }
}

const LANGUAGE = posix.dirname(ts.getDefaultLibFilePath({}));

const splitAt = (path: string): [folder: string, file: string] => {
  const at = path.lastIndexOf('/');
  return [path.slice(0, at) || '/', path.slice(at + 1)];
};

/** Declarations that the next program is likely to need again. */
export class DeclarationCache {
  readonly #registry = ts.createDocumentRegistry();
  #key = '';
  #before = new Map<string, SourceFile>();
  #files = new Map<string, SourceFile>();

  /** A new program: keeps what the last one used, if the options mean the same to the parser, and no more. */
  begin(options: CompilerOptions): void {
    const key = this.#registry.getKeyForCompilationSettings(options);
    this.#before = key === this.#key ? this.#files : new Map();
    this.#files = new Map();
    this.#key = key;
  }

  get(path: string): SourceFile | undefined {
    const file = this.#files.get(path) ?? this.#before.get(path);
    if (file !== undefined) this.#files.set(path, file);
    return file;
  }

  set(path: string, file: SourceFile): void {
    this.#files.set(path, file);
  }

  /** The program is made: what it did not use is forgotten. */
  end(): void {
    this.#before = new Map();
  }
}
