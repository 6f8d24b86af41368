import {
  ATTEMPT_TIMEOUT_MS,
  backendId,
  backendProgram,
  changesCode,
  type Mission,
  type MissionBackend,
  reviewerId,
} from '@orrery/ralph-loop';
import { availableParallelism } from 'node:os';
import type { AgentSpec } from 'orrery';
import { acpAgent, BACKENDS, type CommandAgentOptions, commandAgent } from 'orrery/coding';
import { readList } from './option-values.ts';
import { UsageError } from './usage-error.ts';

/**
 * The coding agents for a mission that changes the repository: those of `--backend`, else those that the mission names. They run
 * in this thread, for they only wait for their programs. Throws UsageError.
 */
export function codingAgentsMeant(value: string | true | undefined, mission: Mission): readonly AgentSpec[] {
  const tasks = mission.tasks.filter(changesCode);
  if (tasks.length === 0) {
    if (value !== undefined)
      throw new UsageError('Option "--backend" is given, but no task of the mission changes the repository');
    return [];
  }
  const meant = backendsMeant(value, mission);
  const common = {
    concurrency: mission.limits.maxParallel ?? availableParallelism(),
    handlingTimeoutMs: Math.max(
      ...tasks.map(
        ({ limits }) => limits?.timeoutMs ?? mission.code?.limits?.timeoutMs ?? ATTEMPT_TIMEOUT_MS,
      ),
    ),
    // Each task says what it allows.
    permission: 'all',
  } as const;
  const reviewers = mission.code?.reviewers ?? [];
  return [
    ...meant.map((backend) => codingAgent(backend, { ...common, id: backendId(backend), does: ['change'] })),
    ...reviewers.map((backend) =>
      codingAgent(backend, { ...common, id: reviewerId(backend), does: ['review'] }),
    ),
  ];
}

/** The coding agents that are to make changes. Throws UsageError. */
export function backendsMeant(
  value: string | true | undefined,
  { code }: Pick<Mission, 'code'>,
): readonly MissionBackend[] {
  const known = code?.backends ?? [];
  return value === undefined ? known : readList('--backend', value).map((id) => named(id, known));
}

function codingAgent(
  backend: MissionBackend,
  options: Pick<CommandAgentOptions, 'id' | 'does' | 'concurrency' | 'handlingTimeoutMs' | 'permission'>,
): AgentSpec {
  const program = backendProgram(backend);
  const { env } = program;
  if (program.known !== undefined) {
    const { known } = program;
    return commandAgent({ ...options, name: BACKENDS[known].name, backend: known, env });
  }
  const { command, acp } = program;
  return acp ? acpAgent({ ...options, command, env }) : commandAgent({ ...options, command, env });
}

/** One that the mission has, or a program that is known. */
function named(id: string, known: readonly MissionBackend[]): MissionBackend {
  const own = known.find((backend) => backendId(backend) === id);
  if (own !== undefined) return own;
  if (Object.hasOwn(BACKENDS, id)) return id as keyof typeof BACKENDS;
  const ids = known.flatMap((backend) => (typeof backend === 'string' ? [] : [backend.id]));
  throw new UsageError(
    `Option "--backend" is "${id}", expected ${[...Object.keys(BACKENDS), ...ids].join(', ')}`,
  );
}
