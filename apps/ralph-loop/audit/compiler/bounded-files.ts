import { sep } from 'node:path';
import type { CompilerHost, CompilerOptions, CreateSourceFileOptions, ScriptTarget, SourceFile } from 'typescript';
import { readSource } from '../read-source.ts';
import { ts } from './typescript.ts';

/**
 * Bounds of one program. The compiler needs about 25 bytes of heap for each byte of text: these make some 200 MB.
 *
 * - the repository's own files, roots and what they import;
 * - declarations of the language and of packages, which are only looked up.
 */
const MAX_OWN_BYTES = 3 * 1024 * 1024;
const MAX_PACKAGE_BYTES = 8 * 1024 * 1024;
/** The DOM's declarations are the largest there are: 2.3 MB. */
const MAX_PACKAGE_FILE_BYTES = 4 * 1024 * 1024;

/** Known to the compiler's host, not to its public type. */
interface SourceRedirect {
  useSourceOfProjectReferenceRedirect(): boolean;
}

/** The compiler's view of the disk: bounded, read-only, and every own file read as every other analyser reads it. */
export class BoundedFiles {
  readonly host: CompilerHost;
  /** Own files that were not loaded, because they are too large, binary, unreadable, or over the bounds. */
  readonly refused = new Set<string>();
  /** Whether declarations of packages were left out for being too many. */
  lacksPackages = false;
  readonly #root: string;
  readonly #declarations: DeclarationCache;
  /** A renewed program must get the very same files to take them over. */
  readonly #loaded = new Map<string, SourceFile>();
  #ownBytes = 0;
  #packageBytes = 0;

  constructor(root: string, options: CompilerOptions, declarations: DeclarationCache) {
    this.#root = root;
    this.#declarations = declarations;
    declarations.use(options);
    const host: CompilerHost & SourceRedirect = {
      ...ts.createCompilerHost(options),
      // Comments are half of a declaration file; only their @ts-ignore and the like matter here.
      jsDocParsingMode: ts.JSDocParsingMode.ParseForTypeErrors,
      readFile: (path) => this.#text(path),
      getSourceFile: (path, language) => this.#sourceFile(path, language),
      writeFile: () => undefined,
      // A reference to another project means its sources, for nothing has been built.
      useSourceOfProjectReferenceRedirect: () => true,
    };
    this.host = host;
  }

  /** Whether the file belongs to the repository rather than to a package or the language. */
  isOwn(path: string): boolean {
    return path.startsWith(this.#root + sep) && !path.includes('/node_modules/');
  }

  #text(path: string): string | undefined {
    const read = readSource(...splitAt(path), this.isOwn(path) ? undefined : MAX_PACKAGE_FILE_BYTES);
    return 'source' in read ? read.source.text : undefined;
  }

  #sourceFile(path: string, language: ScriptTarget | CreateSourceFileOptions): SourceFile | undefined {
    const loaded = this.#loaded.get(path);
    if (loaded !== undefined) return loaded;
    const file = this.#load(path, language);
    if (file !== undefined) this.#loaded.set(path, file);
    return file;
  }

  #load(path: string, language: ScriptTarget | CreateSourceFileOptions): SourceFile | undefined {
    const isOwn = this.isOwn(path);
    const known = isOwn ? undefined : this.#declarations.get(path);
    if (known !== undefined) return this.#mayLoad(known.text.length, isOwn) ? known : undefined;
    const text = this.#text(path);
    if (text === undefined || !this.#mayLoad(text.length, isOwn)) {
      if (isOwn) this.refused.add(path);
      return undefined;
    }
    try {
      const parsed = ts.createSourceFile(path, text, language, false);
      if (!isOwn) this.#declarations.set(path, parsed);
      return parsed;
    } catch (error) {
      // The compiler's parser recurses: a file nested some thousand deep overflows its stack.
      if (!(error instanceof RangeError)) throw error;
      this.refused.add(path);
      return undefined;
    }
  }

  #mayLoad(bytes: number, isOwn: boolean): boolean {
    if (isOwn) this.#ownBytes += bytes;
    else this.#packageBytes += bytes;
    if (isOwn) return this.#ownBytes <= MAX_OWN_BYTES;
    if (this.#packageBytes > MAX_PACKAGE_BYTES) this.lacksPackages = true;
    return !this.lacksPackages;
  }
}

const splitAt = (path: string): [folder: string, file: string] => {
  const at = path.lastIndexOf('/');
  return [path.slice(0, at) || '/', path.slice(at + 1)];
};

/** Declarations parsed once for all programs whose options mean the same to the parser. */
export class DeclarationCache {
  readonly #registry = ts.createDocumentRegistry();
  #key = '';
  #files = new Map<string, SourceFile>();

  use(options: CompilerOptions): void {
    const key = this.#registry.getKeyForCompilationSettings(options);
    if (key !== this.#key) this.#files = new Map();
    this.#key = key;
  }

  get(path: string): SourceFile | undefined {
    return this.#files.get(path);
  }

  set(path: string, file: SourceFile): void {
    this.#files.set(path, file);
  }
}
