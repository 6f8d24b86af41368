import { copyFile, lstat, readFile, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { refused } from 'orrery';
import { type ChangedFile, changedFiles } from './changed-file.ts';
import { fieldsOf } from './git-runner.ts';
import type { LinkedWorktree } from './linked-worktree.ts';
import type { Repository } from './repository.ts';

/**
 * A worktree as it was made.
 *
 * - `start` its commit.
 * - `index` copy of its index.
 * - `fresh` tree of what was in it; absent where that is as its commit says.
 */
export interface FreshWorktree extends LinkedWorktree {
  readonly start: string;
  readonly index: string;
  readonly fresh: string | undefined;
}

/** How many files are named in a sentence. */
const NAMED = 5;

/** Keeps what a new worktree looks like, before anybody works in it. */
export async function freshWorktree(
  repository: Repository,
  worktree: LinkedWorktree,
  { start, signal }: { readonly start: string; readonly signal?: AbortSignal | undefined },
): Promise<FreshWorktree> {
  const index = `${worktree.path}.index`;
  await copyIndex(join(worktree.gitDir, 'index'), index);
  const fresh = await new IndexOfFiles(repository, { ...worktree, start, index }, signal).freshTree();
  return { ...worktree, start, index, fresh };
}

/** - `changed` files that differ from where the attempt began. */
export interface TreeOfFiles {
  readonly tree: string;
  readonly changed: readonly ChangedFile[];
}

/**
 * The tree of all that is in a worktree: commits that were made there, changes and new files, but for ignored ones. Throws REFUSED
 * when there is a repository within it that would be lost.
 */
export async function treeOfFiles(
  repository: Repository,
  worktree: FreshWorktree,
  signal?: AbortSignal,
): Promise<TreeOfFiles> {
  const { start, fresh } = worktree;
  await refuseChangedSubmodules(repository, worktree, signal);
  const index = new IndexOfFiles(repository, worktree, signal);
  const found = await index.tree();
  const changed = await changedFiles(repository, [start, found], { signal });
  await refuseRepositories(worktree.path, changed);
  if (fresh === undefined) return { tree: found, changed };
  // Rules of attributes that its files do not keep make some look changed from the first.
  const startTree = await repository.line(['rev-parse', `${start}^{tree}`], { signal });
  const tree = await index.onto(startTree, [fresh, found]);
  return { tree, changed: await changedFiles(repository, [start, tree], { signal }) };
}

/** An index of its own over the files of a worktree: what was done with that of the worktree does not count. */
class IndexOfFiles {
  readonly #repository: Repository;
  readonly #worktree: Omit<FreshWorktree, 'fresh'>;
  readonly #file: string;
  readonly #inWorktree: { readonly path: string; readonly signal: AbortSignal | undefined };
  readonly #inIndex: {
    readonly path: string;
    readonly env: Record<string, string>;
    signal: AbortSignal | undefined;
  };

  constructor(repository: Repository, worktree: Omit<FreshWorktree, 'fresh'>, signal?: AbortSignal) {
    this.#repository = repository;
    this.#worktree = worktree;
    this.#file = `${worktree.path}.snapshot`;
    this.#inWorktree = { path: worktree.path, signal };
    this.#inIndex = { path: worktree.path, env: { GIT_INDEX_FILE: this.#file }, signal };
  }

  /** Of a worktree in which somebody has worked. */
  async tree(): Promise<string> {
    return await this.#with(async () => {
      await copyIndex(this.#worktree.index, this.#file);
      await this.#add();
      await this.#takeStaged();
      return await this.#repository.line(['write-tree'], this.#inIndex);
    });
  }

  /** Of a new one; undefined if it is that of its commit. */
  async freshTree(): Promise<string | undefined> {
    return await this.#with(async () => {
      await copyIndex(this.#worktree.index, this.#file);
      const status = ['status', '--porcelain', '-z', '--untracked-files=all', '--no-renames'];
      if ((await this.#repository.fields(status, this.#inIndex)).length === 0) return undefined;
      await this.#repository.git(['add', '--all', '.'], this.#inIndex);
      return await this.#repository.line(['write-tree'], this.#inIndex);
    });
  }

  /** The first tree, with what differs between the two others. */
  async onto(tree: string, [from, to]: readonly [string, string]): Promise<string> {
    const diff = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to];
    const { bytes } = await this.#repository.git(diff, this.#inWorktree);
    // Names are bytes, which this encoding keeps as they are.
    const fields = fieldsOf(bytes, 'latin1');
    const entries = fields.flatMap((field, at) => {
      if (at % 2 === 1) return [];
      const [, mode, , object] = field.split(' ');
      return [`${mode === '000000' ? '0' : mode} ${object}\t${fields[at + 1]}\0`];
    });
    return await this.#with(async () => {
      await this.#repository.git(['read-tree', tree], this.#inIndex);
      const input = Buffer.from(entries.join(''), 'latin1');
      await this.#repository.git(['update-index', '-z', '--index-info'], { ...this.#inIndex, input });
      return await this.#repository.line(['write-tree'], this.#inIndex);
    });
  }

  /** A repository within it is found in what was added, but for one without a commit: that cannot be added. */
  async #add(): Promise<void> {
    try {
      await this.#repository.git(['add', '--all', '.'], this.#inIndex);
    } catch (error) {
      await this.#refuseNested();
      throw error;
    }
  }

  /** Ignored files are taken when somebody added them all the same, and left when somebody took them out of git. */
  async #takeStaged(): Promise<void> {
    // Without an index nothing was taken out: the file was removed. As it was made, nobody has used it.
    const index = await readFile(join(this.#worktree.gitDir, 'index')).catch(() => undefined);
    if (index === undefined || index.equals(await readFile(this.#worktree.index))) return;
    const diff = ['diff-index', '--cached', '-z', '--name-status', '--no-renames', '--diff-filter=AD'];
    const { bytes } = await this.#repository.git([...diff, this.#worktree.start], this.#inWorktree);
    const fields = fieldsOf(bytes, 'latin1');
    const named = (kind: 'A' | 'D'): Buffer =>
      Buffer.from(
        fields.map((field, at) => (at % 2 === 1 && fields[at - 1] === kind ? `${field}\0` : '')).join(''),
        'latin1',
      );
    const [added, deleted] = [named('A'), named('D')];
    if (added.length > 0) await this.#update(['--add', '--remove'], added);
    if (deleted.length === 0) return;
    const ignored = await this.#repository.git(['check-ignore', '--no-index', '-z', '--stdin'], {
      ...this.#inWorktree,
      input: deleted,
      codes: [0, 1],
    });
    await this.#update(['--force-remove'], ignored.bytes);
  }

  async #update(how: readonly string[], input: Buffer): Promise<void> {
    await this.#repository.git(['update-index', ...how, '-z', '--stdin'], { ...this.#inIndex, input });
  }

  async #refuseNested(): Promise<void> {
    const others = ['ls-files', '--others', '--exclude-standard', '-z'];
    const found = await this.#repository.fields(others, this.#inIndex);
    refuseNamed(found.filter((path) => path.endsWith('/')));
  }

  async #with<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      await rm(this.#file, { force: true });
      await rm(`${this.#file}.lock`, { force: true });
    }
  }
}

/**
 * Copies an index as if it had been written at the start of its second: git then reads each file that is as new, instead of
 * believing its time.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const { mtimeMs } = await stat(from);
  const second = Math.floor(mtimeMs / 1_000);
  await utimes(to, second, second);
}

async function refuseRepositories(path: string, changed: readonly ChangedFile[]): Promise<void> {
  const folders = new Set(changed.flatMap((file) => (file.isRepository ? [] : foldersAbove(file.path))));
  const nested = await Promise.all(
    [...folders].map(async (folder) => ((await isRepository(join(path, folder))) ? [folder] : [])),
  );
  refuseNamed([...changed.filter((file) => file.isRepository).map((file) => file.path), ...nested.flat()]);
}

function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === '.' ? [] : [folder, ...foldersAbove(folder)];
}

const isRepository = async (folder: string): Promise<boolean> =>
  (await lstat(join(folder, '.git')).catch(() => undefined)) !== undefined;

/** Of a submodule git keeps only which commit it is at: changes of its files would be lost. */
async function refuseChangedSubmodules(
  repository: Repository,
  { path }: FreshWorktree,
  signal?: AbortSignal,
): Promise<void> {
  const status = ['status', '--porcelain=v2', '-z', '--untracked-files=no', '--no-renames'];
  const lines = await repository.fields([...status, '--ignore-submodules=none'], { path, signal });
  const changed = lines.filter((line) => /^1 \S+ S(?!\.\.\.)/.test(line));
  refuseNamed(changed.map((line) => line.split(' ').slice(8).join(' ')));
}

function refuseNamed(paths: readonly string[]): void {
  if (paths.length === 0) return;
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : '';
  throw refused(
    `The attempt changed or made a repository within the repository, at ${paths.slice(0, NAMED).join(', ')}${more}; what is in it would be lost`,
  );
}
