import { type Mission, readMission, repositoryRoot } from '@orrery/ralph-loop';
import type { AgentSpec } from 'orrery';
import { agentsForMission } from './agents-meant.ts';
import { auditApp } from './audit-app.ts';
import type { TypedOptions } from './run-plan.ts';
import { UsageError } from './usage-error.ts';

/** A mission, the root of the repository, and the agents. */
export interface MeantMission {
  readonly root: string;
  readonly mission: Mission;
  readonly agents: readonly AgentSpec[];
}

/** Reads mission, repository and agents from the command line. Throws UsageError or MissionError. */
export async function missionMeant(options: TypedOptions, [file]: readonly string[]): Promise<MeantMission> {
  const repo = String(options['repo'] ?? '.');
  const repository = await repositoryRoot(repo);
  if ('refusal' in repository) throw new UsageError(`Option "--repo" is "${repo}": ${repository.refusal}`);
  const { root } = repository;
  const mission = await readMission(file ?? (await auditOf(root)));
  return { root, mission, agents: await agentsForMission(options['agents'], { mission, file }) };
}

async function auditOf(root: string): Promise<string> {
  const audit = await auditApp();
  if (audit !== undefined) return audit.auditMission(root);
  throw new UsageError(
    'No mission file is named; the audit of repositories comes with the repository of Orrery, not with the package',
  );
}
