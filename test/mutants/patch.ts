import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';

/** Why `patch` does not apply to the files below `root`; undefined when it does. Changes nothing. */
export const patchFault = (root: string, patch: string): string | undefined =>
  gitApply(root, ['--check', patch]);

/** Applies `patch` to the files below `root`, or takes it back. Throws when that does not go. */
export function applyPatch(root: string, patch: string, direction: 'apply' | 'revert'): void {
  const why = gitApply(root, direction === 'revert' ? ['--reverse', patch] : [patch]);
  if (why !== undefined) throw new Error(`${patch}: ${why}`);
}

function gitApply(root: string, args: readonly string[]): string | undefined {
  // A repository around `root` would have paths begin at its own root.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(root) };
  const { status, stderr, error } = spawnSync('git', ['apply', ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  if (status === 0) return undefined;
  return error?.message ?? stderr.trim().replaceAll('\n', '; ');
}
