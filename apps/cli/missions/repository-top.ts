import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '@orrery/ralph-loop';
import type { TypedOptions } from '../run-plan.ts';
import { UsageError } from '../usage-error.ts';

/** The top level of the git repository that `--repo`, else the current folder, is in. Throws UsageError. */
export async function repositoryMeant(options: TypedOptions): Promise<string> {
  const repo = String(options['repo'] ?? '.');
  const repository = await repositoryRoot(repo);
  if ('refusal' in repository) throw new UsageError(`Option "--repo" is "${repo}": ${repository.refusal}`);
  return repositoryTop(repository.root);
}

/** The nearest folder with a `.git`, this one or above it. `folder` is a real path. Throws UsageError where there is none. */
export function repositoryTop(folder: string): string {
  for (let top = folder; ; top = dirname(top)) {
    if (lstatSync(join(top, '.git'), { throwIfNoEntry: false }) !== undefined) return top;
    if (top === dirname(top)) throw new UsageError(`The folder ${folder} is in no git repository`);
  }
}
