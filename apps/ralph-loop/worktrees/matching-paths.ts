import { refused } from 'orrery';
import type { Repository } from './repository.ts';

/**
 * A pattern as git has it: `*` stops at `/`, `**` does not, and a folder means what is in it. A name with brackets, such as
 * `[id].ts`, also means itself.
 */
export function pathspecsOf(patterns: readonly string[]): string[] {
  for (const pattern of patterns)
    if (
      pattern === '' ||
      pattern.startsWith('/') ||
      pattern.includes('\0') ||
      pattern.split('/').includes('..')
    )
      throw refused(
        `A pattern of files is ${JSON.stringify(pattern)}, expected a path within the repository`,
      );
  return patterns.flatMap((pattern) => [`:(top,glob)${pattern}`, `:(top,literal)${pattern}`]);
}

/** Which paths that differ between two commits match a pattern; of a renamed file both names are looked at. */
export async function changedPaths(
  repository: Repository,
  { start, commit }: { readonly start: string; readonly commit: string },
  patterns: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  if (patterns.length === 0) return [];
  const diff = ['diff-tree', '-r', '-z', '--no-renames', '--name-only', '--ignore-submodules=none'];
  return await repository.fields([...diff, start, commit, '--', ...pathspecsOf(patterns)], { signal });
}

/** Which files of a commit match a pattern. */
export async function filesMatching(
  repository: Repository,
  commit: string,
  patterns: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  if (patterns.length === 0) return [];
  const empty = await repository.line(['hash-object', '-t', 'tree', '--stdin'], { signal });
  return await changedPaths(repository, { start: empty, commit }, patterns, signal);
}
