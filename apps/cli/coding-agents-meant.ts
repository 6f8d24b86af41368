import type { Mission } from '@orrery/ralph-loop';
import { availableParallelism } from 'node:os';
import type { AgentSpec } from 'orrery';
import { BACKENDS, type CodingBackend, codeChange, commandAgent } from 'orrery/coding';
import { capabilitiesOf } from '@orrery/ralph-loop';
import { readList } from './option-values.ts';
import { UsageError } from './usage-error.ts';

/**
 * The coding agents for a mission that changes the repository: one for each program of `--backend`, else of the mission's own
 * field. They run in this thread, for they only wait for their programs. Throws UsageError.
 */
export function codingAgentsMeant(value: string | true | undefined, mission: Mission): readonly AgentSpec[] {
  const isCoding = mission.tasks.some((task) => capabilitiesOf(task).includes(codeChange.id));
  if (!isCoding) {
    if (value !== undefined)
      throw new UsageError(`Option "--backend" is given, but no task of the mission needs "${codeChange.id}"`);
    return [];
  }
  const names = value === undefined ? (mission.code?.backends ?? []) : readList('--backend', value);
  const concurrency = mission.limits.maxParallel ?? availableParallelism();
  return names.map((name) => {
    const backend: CodingBackend | undefined = Object.hasOwn(BACKENDS, name)
      ? BACKENDS[name as keyof typeof BACKENDS]
      : undefined;
    if (backend === undefined)
      throw new UsageError(`Option "--backend" is "${name}", expected ${Object.keys(BACKENDS).join(', ')}`);
    return commandAgent({ id: backend.id, name: backend.name, backend, concurrency, permission: 'all' });
  });
}
