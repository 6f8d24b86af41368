import {
  changesCode,
  findMissions,
  type Mission,
  MissionError,
  type MissionSource,
  onlyMission,
  type PlacedDefaults,
  readDefaults,
  readMissionSource,
  repositoryRoot,
  type SourcedMission,
} from '@orrery/ralph-loop';
import type { AgentSpec } from 'orrery';
import { agentsForMission } from './agents-meant.ts';
import { auditApp } from './audit-app.ts';
import { codingAgentsMeant } from './coding-agents-meant.ts';
import type { TypedOptions } from './run-plan.ts';
import { UsageError } from './usage-error.ts';

/** A mission, where it comes from, the root of the repository, and the agents. */
export interface MeantMission {
  readonly root: string;
  readonly mission: Mission;
  readonly source: MissionSource;
  readonly agents: readonly AgentSpec[];
  /** Whether it is the audit, which nobody named. */
  readonly isAudit: boolean;
}

/**
 * Reads mission, repository and agents from the command line. Without a file it is the only mission of the repository, and where
 * there is none, the audit. Throws UsageError or MissionError.
 */
export async function missionMeant(options: TypedOptions, [file]: readonly string[]): Promise<MeantMission> {
  const root = await rootMeant(options);
  const audit =
    file === undefined && (await findMissions(root)).length === 0 ? await auditOf(root) : undefined;
  const { mission, source } = await sourcedMission(options, { root, file: file ?? audit });
  const named = audit === undefined ? source.file : undefined;
  const isAudit = audit !== undefined && options['agents'] === undefined;
  return { root, mission, source, isAudit, agents: await teamFor(options, { mission, file: named }) };
}

/** The root of the repository that is meant. Throws UsageError. */
export async function rootMeant(options: TypedOptions): Promise<string> {
  const repo = String(options['repo'] ?? '.');
  const repository = await repositoryRoot(repo);
  if ('refusal' in repository) throw new UsageError(`Option "--repo" is "${repo}": ${repository.refusal}`);
  return repository.root;
}

/** A mission file of any format, else the only mission of the repository, with its defaults and the gate that was typed. */
export async function sourcedMission(
  options: TypedOptions,
  { root, file }: { readonly root: string; readonly file: string | undefined },
): Promise<SourcedMission> {
  const { tag } = options;
  const defaults = withGate(await readDefaults(root), { root, typed: options['gate'] });
  return await readMissionSource(file ?? (await onlyMission(root)), {
    defaults,
    ...(tag === undefined ? {} : { tag: String(tag) }),
  });
}

/** The coding agents, and whoever else the mission needs. Throws UsageError or MissionError. */
export async function teamFor(
  options: TypedOptions,
  { mission, file }: { readonly mission: Mission; readonly file: string | undefined },
): Promise<readonly AgentSpec[]> {
  const coding = codingAgentsMeant(options['backend'], mission);
  const isNamed = mission.agents !== undefined || options['agents'] !== undefined;
  const needsOthers = isNamed || !mission.tasks.every(changesCode);
  const others = needsOthers ? await agentsForMission(options['agents'], { mission, file }) : [];
  if (coding.length > 0 || isNamed || !mission.tasks.some(changesCode)) return [...others, ...coding];
  throw new MissionError(file ?? `"${mission.name}"`, [
    'no coding agent is named; expected code.backends, or --backend claude, codex, gemini or opencode',
  ]);
}

/** The defaults of the repository, with the gate that was typed in place of its own. */
function withGate(
  placed: PlacedDefaults | undefined,
  { root, typed }: { readonly root: string; readonly typed: string | true | undefined },
): PlacedDefaults | undefined {
  if (typed === undefined) return placed;
  const gates = [{ name: 'gate', run: String(typed) }];
  const { folder = root, defaults = { version: 1 } } = placed ?? {};
  return { folder, defaults: { ...defaults, code: { ...defaults.code, gates } } };
}

async function auditOf(root: string): Promise<string> {
  const audit = await auditApp();
  if (audit !== undefined) return audit.auditMission(root);
  throw new UsageError(
    `No mission file is named, and ${root} has none; the audit of repositories comes with the repository of Orrery, not with the package`,
  );
}
