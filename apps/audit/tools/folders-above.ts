import { dirname } from 'node:path/posix';

/** The folder of a file and those above it, up to the root `.`. */
export function foldersAbove(file: string): string[] {
  const folders = [dirname(file)];
  while (folders.at(-1) !== '.') folders.push(dirname(folders.at(-1) as string));
  return folders;
}
