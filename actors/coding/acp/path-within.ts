import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/**
 * The real path of what `path` names, if that is in the worktree `root`, a real path; else undefined. A link that leads out is
 * outside, and so is what git keeps of itself: commands of others are run from there. What does not exist is judged by the
 * nearest folder that does.
 */
export function pathWithin(root: string, path: string): string | undefined {
  if (path === '' || path.includes('\0')) return undefined;
  const real = realPath(resolve(root, path));
  if (real === undefined) return undefined;
  const inside = relative(root, real);
  if (isAbsolute(inside)) return undefined;
  const parts = inside.split(sep);
  return parts[0] === '..' || parts.some(isOfGit) ? undefined : real;
}

/** File systems that do not tell capital letters from others have it by either name. */
const isOfGit = (part: string): boolean => part.toLowerCase() === '.git';

function realPath(path: string): string | undefined {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(realpathSync(at), ...missing);
    } catch (error) {
      // A link that leads to nothing is there: whoever writes to it writes where it leads.
      if (!isMissing(error) || isLink(at)) return undefined;
    }
    if (dirname(at) === at) return undefined;
    missing.unshift(basename(at));
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
