import type { GitOptions } from './git-runner.ts';
import type { Repository } from './repository.ts';

/**
 * A file that differs between two commits. `oldPath` is of a renamed one. `added` and `removed` are lines, and undefined of a
 * binary file. A path that is no UTF-8 is shown with replacement characters.
 */
export interface ChangedFile {
  readonly path: string;
  readonly oldPath?: string;
  readonly kind: 'added' | 'modified' | 'deleted' | 'renamed';
  readonly added: number | undefined;
  readonly removed: number | undefined;
  readonly isRepository: boolean;
}

const KINDS = { A: 'added', D: 'deleted', R: 'renamed' } as const;
/** The mode of a folder that is a repository itself. */
const REPOSITORY = '160000';

/** The files that differ between two commits or trees. */
export async function changedFiles(
  repository: Repository,
  [from, to]: readonly [string, string],
  options: Partial<GitOptions> = {},
): Promise<ChangedFile[]> {
  const diff = ['diff-tree', '-r', '-z', '-M', '--raw', '--numstat', '--no-ext-diff', '--no-textconv'];
  return readChangedFiles(await repository.fields([...diff, '--ignore-submodules=none', from, to], options));
}

/** Reads what `--raw --numstat -z` writes: first a record of each file, then its counts in the same order. */
export function readChangedFiles(fields: readonly string[]): ChangedFile[] {
  const queue = fields[Symbol.iterator]();
  const next = (): string => queue.next().value ?? '';
  const records: Omit<ChangedFile, 'added' | 'removed'>[] = [];
  const counts: (readonly [number | undefined, number | undefined])[] = [];
  for (let field = next(); field !== ''; field = next()) {
    if (field.startsWith(':')) records.push(record(field, next));
    else {
      const [added, removed, path] = field.split('\t');
      // A renamed file has no path here, but its two names after it.
      if (path === '') void [next(), next()];
      counts.push([countOf(added), countOf(removed)]);
    }
  }
  return records.map((file, at) => ({ ...file, added: counts[at]?.[0], removed: counts[at]?.[1] }));
}

function record(field: string, next: () => string): Omit<ChangedFile, 'added' | 'removed'> {
  const [oldMode = '', newMode, , , status = ''] = field.slice(1).split(' ');
  const kind = KINDS[status[0] as keyof typeof KINDS] ?? 'modified';
  const isRepository = oldMode === REPOSITORY || newMode === REPOSITORY;
  const first = next();
  return kind === 'renamed'
    ? { path: next(), oldPath: first, kind, isRepository }
    : { path: first, kind, isRepository };
}

const countOf = (text = '-'): number | undefined => (text === '-' ? undefined : Number(text));
