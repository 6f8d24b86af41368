import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentSpec } from 'orrery';
import { planets } from './audit-app.ts';
import { readList } from './option-values.ts';
import { UsageError } from './usage-error.ts';

/** Where a project keeps its agents, and what their files are called. */
const FOLDER = 'agents';
const AGENT_FILE = /\.agent\.[cm]?[jt]s$/;

/**
 * The agents that a command is to start: those that `--agents` names, else those in the folder `agents`, else the planets.
 * Fails with UsageError.
 */
export async function agentsMeant(value: string | true | undefined): Promise<readonly AgentSpec[]> {
  if (value !== undefined) return agentsNamed(value);
  const own = agentsOfFolder();
  return own.length > 0 ? own : planets();
}

function agentsNamed(value: string | true): readonly AgentSpec[] {
  return readList('--agents', value).map((path) => {
    const file = resolve(path);
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
      throw new UsageError(`Option "--agents" is "${value}": there is no file ${path}`);
    return { module: pathToFileURL(file) };
  });
}

function agentsOfFolder(): readonly AgentSpec[] {
  if (statSync(FOLDER, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const files = readdirSync(FOLDER).filter((file) => AGENT_FILE.test(file));
  return files.sort().map((file) => ({ module: pathToFileURL(resolve(join(FOLDER, file))) }));
}
