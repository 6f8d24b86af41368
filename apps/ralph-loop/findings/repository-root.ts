import { opendir, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { codeOf } from './read-source.ts';

/** The name of the effect that finds the repository (`ctx.effect`). */
export const REPOSITORY_ROOT = 'repository-root';

/** The real path of the repository, or a sentence that refuses it. */
export type RepositoryRoot = { readonly root: string } | { readonly refusal: string };

/**
 * Finds the repository at a path.
 *
 * A path that is a link is resolved here, because later checks compare real paths with it.
 */
export async function repositoryRoot(path: string): Promise<RepositoryRoot> {
  const asked = resolve(path);
  try {
    if (!(await stat(asked)).isDirectory()) return { refusal: `The repository ${asked} is not a directory` };
    const directory = await opendir(asked);
    await directory.close();
    return { root: await realpath(asked) };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { refusal: `The repository ${asked} does not exist` };
    return { refusal: `The repository ${asked} cannot be read: ${code}` };
  }
}
