import { readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Mission, MissionError } from '@orrery/ralph-loop';
import type { AgentSpec } from 'orrery';
import { planets } from './audit-app.ts';
import { readList } from './option-values.ts';
import { UsageError } from './usage-error.ts';

/** The folder of a project's agents. */
const FOLDER = 'agents';
/** The names of their files. */
const AGENT_FILE = /\.agent\.[cm]?[jt]s$/;

/**
 * The agents that a command starts: those of `--agents`, else those in the folder `agents`, else the planets. Throws
 * UsageError.
 */
export async function agentsMeant(value: string | true | undefined): Promise<readonly AgentSpec[]> {
  if (value !== undefined) return agentsNamed(value);
  const own = agentsOfFolder();
  return own.length > 0 ? own : planets();
}

/**
 * The agents for a mission: those of `--agents`, else those that the mission names, else as for any command. Without a `file`
 * the mission is the audit, which needs the planets. Throws UsageError or MissionError.
 */
export async function agentsForMission(
  value: string | true | undefined,
  { mission, file }: { readonly mission: Mission; readonly file: string | undefined },
): Promise<readonly AgentSpec[]> {
  if (value !== undefined) return agentsNamed(value);
  if (file === undefined) return planets();
  return mission.agents === undefined ? agentsMeant(undefined) : agentsOfMission(mission.agents, file);
}

function agentsNamed(value: string | true): readonly AgentSpec[] {
  return readList('--agents', value).map((path) => {
    if (!isFile(resolve(path)))
      throw new UsageError(`Option "--agents" is "${value}": there is no file ${path}`);
    return { module: pathToFileURL(resolve(path)) };
  });
}

function agentsOfMission(paths: readonly string[], missionFile: string): readonly AgentSpec[] {
  const files = paths.map((path) => resolve(dirname(missionFile), path));
  const faults = files.flatMap((file, at) =>
    isFile(file) ? [] : [`agents[${at}]: there is no file ${file}, found "${paths[at]}"`],
  );
  if (faults.length > 0) throw new MissionError(missionFile, faults);
  return files.map((file) => ({ module: pathToFileURL(file) }));
}

/** Whether a path is a file; false if that cannot be found out, as for a name that is too long. */
function isFile(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

function agentsOfFolder(): readonly AgentSpec[] {
  if (statSync(FOLDER, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const files = readdirSync(FOLDER).filter((file) => AGENT_FILE.test(file));
  return files.sort().map((file) => ({ module: pathToFileURL(resolve(join(FOLDER, file))) }));
}
