import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, readSource } from '../../../findings/read-source.ts';
import { FileWindow } from './file-window.ts';
import { type GitObject, looseObject, MAX_OBJECT_BYTES } from './object.ts';
import { Pack } from './pack.ts';

/** More packs are a repository that nobody has tidied up for years. */
const MAX_PACKS = 200;
/** Trees that are compared again and again are kept, up to this many bytes together. */
const KEPT_BYTES = 16 * 1024 * 1024;
const NAME = /^[0-9a-f]{40}$/;
const MAX_LINKS = 5;

/**
 * The objects of a git repository, read straight from its files: no program is run, so none of its hooks, filters or
 * settings is.
 *
 * Memory stays bounded however large the repository is: of packs only what is asked for is read.
 */
export class GitRepository implements Disposable {
  readonly #folder: string;
  readonly #packs: Pack[] = [];
  readonly #kept = new Map<string, GitObject>();
  #keptBytes = 0;

  private constructor(folder: string) {
    this.#folder = folder;
    for (const path of packPaths(folder)) {
      try {
        this.#packs.push(new Pack(path));
      } catch {
        // Damaged, or of another version: what is only in there is missing, which whoever asks for it notes.
      }
    }
  }

  /** The repository whose working tree is `root`, a real path, or why it cannot be read. */
  static open(root: string): { readonly repository: GitRepository } | { readonly fault: string } {
    const folder = join(root, '.git');
    try {
      const stat = lstatSync(folder);
      if (!stat.isDirectory()) return { fault: 'its history is kept in another folder' };
    } catch (error) {
      const isNone = codeOf(error) === 'ENOENT';
      return { fault: isNone ? 'is no git repository' : `its history cannot be read: ${codeOf(error)}` };
    }
    const config = readSource(root, '.git/config');
    if ('source' in config && /objectformat\s*=\s*sha256/i.test(config.source.text)) {
      return { fault: 'its objects are named by SHA-256' };
    }
    return { repository: new GitRepository(folder) };
  }

  /** The name of the commit that is checked out; undefined when there is none yet. */
  head(): string | undefined {
    let name = textOf(join(this.#folder, 'HEAD'));
    for (let steps = 0; steps < MAX_LINKS && name !== undefined; steps++) {
      if (NAME.test(name)) return name;
      const ref = /^ref: (refs\/[\w./-]+)$/.exec(name)?.[1];
      if (ref === undefined || ref.includes('..')) return undefined;
      name = textOf(join(this.#folder, ref)) ?? this.#packedRef(ref);
    }
    return undefined;
  }

  /** The commits whose parents were left out when the repository was copied. */
  shallowCommits(): ReadonlySet<string> {
    const text = textOf(join(this.#folder, 'shallow')) ?? '';
    return new Set(text.split('\n').filter((line) => NAME.test(line)));
  }

  /** The object of that name; undefined if it is not there, damaged or too long. */
  object(name: string): GitObject | undefined {
    const known = this.#kept.get(name);
    if (known !== undefined) return known;
    const bytes = Buffer.from(name, 'hex');
    let found = this.#loose(name);
    for (const pack of this.#packs) found ??= pack.find(bytes);
    if (found !== undefined) this.#keep(name, found);
    return found;
  }

  #keep(name: string, object: GitObject): void {
    this.#keptBytes += object.data.length;
    if (this.#keptBytes > KEPT_BYTES) {
      this.#kept.clear();
      this.#keptBytes = object.data.length;
    }
    this.#kept.set(name, object);
  }

  #loose(name: string): GitObject | undefined {
    try {
      using file = new FileWindow(join(this.#folder, 'objects', name.slice(0, 2), name.slice(2)));
      return file.bytes > MAX_OBJECT_BYTES ? undefined : looseObject(file.read(0, file.bytes));
    } catch {
      return undefined;
    }
  }

  #packedRef(ref: string): string | undefined {
    const lines = (textOf(join(this.#folder, 'packed-refs')) ?? '').split('\n');
    return lines.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0];
  }

  [Symbol.dispose](): void {
    for (const pack of this.#packs) pack[Symbol.dispose]();
  }
}

function textOf(path: string): string | undefined {
  try {
    const stat = lstatSync(path);
    return stat.isFile() && stat.size <= MAX_OBJECT_BYTES ? readFileSync(path, 'utf8').trim() : undefined;
  } catch {
    return undefined;
  }
}

function packPaths(folder: string): string[] {
  const packs = join(folder, 'objects/pack');
  try {
    return readdirSync(packs)
      .filter((name) => /^pack-[0-9a-f]{40}\.idx$/.test(name))
      .slice(0, MAX_PACKS)
      .map((name) => join(packs, name.slice(0, -'.idx'.length)));
  } catch {
    return [];
  }
}
