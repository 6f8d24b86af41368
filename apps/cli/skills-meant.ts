import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type AgentSpec, isOrreryError } from 'orrery';
import type { TypedOptions } from './run-plan.ts';
import type { KnowledgeOptions } from 'orrery/skills';
import { UsageError } from './usage-error.ts';

/** The agents of the skills, where `--skills` asks for them; `project` is the folder whose rules they know. Throws UsageError. */
export async function skillsMeant(options: TypedOptions, project: string): Promise<readonly AgentSpec[]> {
  const store = options['skills-store'];
  if (options['skills'] !== true) {
    if (store !== undefined) throw new UsageError('Option "--skills-store" is given without "--skills"');
    return [];
  }
  try {
    const { skillAgents } = await import('orrery/skills');
    return skillAgents({
      ...(store === undefined ? {} : { store: String(store) }),
      knowledge: ownKnowledge(project),
    });
  } catch (error) {
    throw refusalOf(error);
  }
}

/** The folder of the rules of a project, where it has one. */
const KNOWLEDGE = '.orrery/knowledge';

function ownKnowledge(project: string): KnowledgeOptions['knowledge'] {
  const path = resolve(project, KNOWLEDGE);
  return { sources: existsSync(path) ? [{ name: 'project', path }] : [] };
}

function refusalOf(error: unknown): unknown {
  if (!isOrreryError(error)) return error;
  const { field, value, expected } = error.details;
  if (error.code === 'PEERS_MISSING')
    return new UsageError(`Option "--skills" cannot be served: ${error.message}`);
  return field === 'store'
    ? new UsageError(`Option "--skills-store" is "${String(value)}", expected ${String(expected)}`)
    : error;
}
