import { listFiles } from './list-files.ts';

/** Says whether a repository, by its real path, has more files than `most` that an audit would look at. */
export function hasMoreFilesThan(root: string, most: number): boolean {
  let count = 0;
  for (const _file of listFiles(root, { note: () => undefined })) {
    count += 1;
    if (count > most) return true;
  }
  return false;
}
