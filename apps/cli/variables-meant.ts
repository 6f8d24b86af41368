import { backendId, type Mission, type NamedVariable, namedVariables } from '@orrery/ralph-loop';
import { backendsMeant } from './coding-agents-meant.ts';

/**
 * A variable that a mission names for one of its programs.
 *
 * - `state` what this process has in it; its value is neither looked at nor kept.
 */
export interface MeantVariable extends NamedVariable {
  readonly state: 'set' | 'empty' | 'not set';
}

/** The variables that a mission names for its gates, its setup, and those of its coding agents that are meant. Throws UsageError. */
export function variablesMeant(
  backend: string | true | undefined,
  mission: Mission,
  env: Readonly<Record<string, string | undefined>>,
): readonly MeantVariable[] {
  const meant = new Set(backendsMeant(backend, mission).map(backendId));
  return namedVariables(mission)
    .filter((variable) => variable.backend === undefined || meant.has(variable.backend))
    .map((variable) => ({ ...variable, state: stateOf(env[variable.name]) }));
}

const stateOf = (value: string | undefined): MeantVariable['state'] =>
  value === undefined ? 'not set' : value === '' ? 'empty' : 'set';

/** A sentence for each variable that is named and has nothing in it. */
export const variableWarnings = (variables: readonly MeantVariable[]): readonly string[] =>
  variables
    .filter(({ state }) => state !== 'set')
    .map(({ field, name, of, state }) => `${field}: the variable ${name}, for ${of}, is ${state}`);
