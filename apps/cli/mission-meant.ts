import { type Mission, readMission, repositoryRoot } from '@orrery/ralph-loop';
import { auditApp } from './audit-app.ts';
import type { TypedOptions } from './run-plan.ts';
import { UsageError } from './usage-error.ts';

/** The repository that is to be worked on, and what is to be done there. Fails with UsageError or MissionError. */
export async function missionMeant(
  options: TypedOptions,
  [file]: readonly string[],
): Promise<{ readonly root: string; readonly mission: Mission }> {
  const repo = String(options['repo'] ?? '.');
  const repository = await repositoryRoot(repo);
  if ('refusal' in repository) throw new UsageError(`Option "--repo" is "${repo}": ${repository.refusal}`);
  const { root } = repository;
  const path = file ?? (await auditApp())?.auditMission(root);
  if (path === undefined)
    throw new UsageError('No mission is named, and the audit of a repository is not installed');
  return { root, mission: await readMission(path) };
}
