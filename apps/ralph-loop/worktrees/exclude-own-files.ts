import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Repository } from './repository.ts';

/** The folder of what Orrery keeps in a repository. */
export const OWN_FOLDER = '.orrery';

/** Keeps our own files out of what git shows, of the user's files and in every worktree, unless they are ignored already. */
export async function excludeOwnFiles(repository: Repository, signal?: AbortSignal): Promise<void> {
  const asked = ['check-ignore', '--quiet', '--no-index', `${OWN_FOLDER}/worktrees`];
  const { code } = await repository.git(asked, { codes: [0, 1], signal });
  if (code === 0) return;
  const file = join(repository.commonDir, 'info', 'exclude');
  const before = await readFile(file, 'latin1').catch(() => '');
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  await mkdir(dirname(file), { recursive: true });
  const written = `${file}.orrery-${process.pid}`;
  await writeFile(written, `${before}${gap}/${OWN_FOLDER}/\n`, 'latin1');
  await rename(written, file);
}
