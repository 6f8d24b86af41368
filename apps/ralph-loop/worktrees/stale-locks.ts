import { access, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Repository } from './repository.ts';
import { basesOf, leftoversOf, snapshotsOf } from './snapshot.ts';

/**
 * Removes the lock files that a process left in refs which nobody but the holder of the mission's lock writes, and returns them.
 * `ref` of its branch; `slug` is its name made fit.
 */
export async function removeStaleLocks(
  { commonDir }: Repository,
  { ref, slug }: { readonly ref: string; readonly slug: string },
): Promise<string[]> {
  const folders = [snapshotsOf(slug), basesOf(slug), leftoversOf(slug)].map((refs) => join(commonDir, refs));
  const inFolders = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(folder, { recursive: true }).catch(() => []);
      return names.filter((name) => name.endsWith('.lock')).map((name) => join(folder, name));
    }),
  );
  const removed: string[] = [];
  for (const file of [join(commonDir, `${ref}.lock`), ...inFolders.flat()]) {
    if (!(await isThere(file))) continue;
    await rm(file, { force: true });
    removed.push(file);
  }
  return removed;
}

export const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
