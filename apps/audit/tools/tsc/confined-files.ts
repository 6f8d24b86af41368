import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import type { FileSystem, FileSystemEntries } from 'typescript/unstable/fs';

const NOTHING: FileSystemEntries = { files: [], directories: [] };

/**
 * The files that the compiler may see: those of one repository, those of its library, and virtual ones. Other files that a
 * project extends, references or imports do not exist for it, also behind links.
 */
export class ConfinedFiles implements Required<Omit<FileSystem, 'writeFile' | 'removeFile'>> {
  readonly #root: string;
  readonly #library: string;
  readonly #madeUp = new Map<string, string>();

  /** Both must be real paths. */
  constructor(root: string, library: string) {
    this.#root = root;
    this.#library = library;
  }

  /** Adds a virtual file. */
  makeUp(path: string, text: string): void {
    this.#madeUp.set(path, text);
  }

  readonly readFile = (path: string): string | null => {
    const madeUp = this.#madeUp.get(path);
    if (madeUp !== undefined) return madeUp;
    const real = this.#real(path);
    try {
      return real === undefined ? null : readFileSync(real, 'utf8');
    } catch {
      return null;
    }
  };

  readonly fileExists = (path: string): boolean => {
    if (this.#madeUp.has(path)) return true;
    const real = this.#real(path);
    return real !== undefined && statSync(real, { throwIfNoEntry: false })?.isFile() === true;
  };

  readonly directoryExists = (path: string): boolean => {
    const real = this.#real(path);
    return real !== undefined && statSync(real, { throwIfNoEntry: false })?.isDirectory() === true;
  };

  readonly getAccessibleEntries = (path: string): FileSystemEntries => {
    const real = this.#real(path);
    if (real === undefined) return NOTHING;
    try {
      const entries: FileSystemEntries = { files: [], directories: [] };
      for (const { name } of readdirSync(real, { withFileTypes: true })) {
        const inside = `${path.replace(/\/$/, '')}/${name}`;
        if (this.directoryExists(inside)) entries.directories.push(name);
        else if (this.fileExists(inside)) entries.files.push(name);
      }
      return entries;
    } catch {
      return NOTHING;
    }
  };

  readonly realpath = (path: string): string => this.#real(path) ?? path;

  #real(path: string): string | undefined {
    if (!this.#holds(path)) return undefined;
    try {
      const real = realpathSync.native(path);
      return this.#holds(real) ? real : undefined;
    } catch {
      return undefined;
    }
  }

  #holds(path: string): boolean {
    return [this.#root, this.#library].some((folder) => path === folder || path.startsWith(folder + sep));
  }
}
