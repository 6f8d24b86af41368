import { changesCode } from './changes-code.ts';
import {
  backendId,
  backendProgram,
  type Mission,
  type MissionBackend,
  type MissionGate,
  setupGate,
} from './mission.ts';

/**
 * A variable of the environment that a mission names for one of its programs.
 *
 * - `field`   where.
 * - `of`      the program, in words.
 * - `backend` id of the coding agent, if it is for one that makes changes.
 */
export interface NamedVariable {
  readonly name: string;
  readonly field: string;
  readonly of: string;
  readonly backend?: string;
}

/** The variables that a mission names, in the order of its fields. */
export function namedVariables({ code = {}, tasks }: Pick<Mission, 'code' | 'tasks'>): NamedVariable[] {
  const setup = code.setup === undefined ? [] : ofGate(setupGate(code.setup), 'code.setup', 'the setup');
  return [
    ...setup,
    ...ofGates(code.gates, 'code.gates'),
    ...ofBackends(code.backends, 'code.backends').map((variable) => ({
      ...variable,
      of: `agent ${variable.backend}`,
    })),
    ...ofBackends(code.reviewers, 'code.reviewers').map(({ backend, ...variable }) => ({
      ...variable,
      of: `reviewer ${backend}`,
    })),
    ...tasks.flatMap((task, index) =>
      changesCode(task) ? ofGates(task.gates, `tasks[${index}].gates`) : [],
    ),
  ];
}

const ofGates = (gates: readonly MissionGate[] = [], field: string): NamedVariable[] =>
  gates.flatMap((gate, index) => ofGate(gate, `${field}[${index}]`, `gate ${gate.name}`));

const ofGate = ({ passEnv = [] }: MissionGate, field: string, of: string): NamedVariable[] =>
  passEnv.map((name, index) => ({ name, field: `${field}.passEnv[${index}]`, of }));

const ofBackends = (backends: readonly MissionBackend[] = [], field: string) =>
  backends.flatMap((backend, index) =>
    backendProgram(backend).env.map((name, at) => ({
      name,
      field: `${field}[${index}].env[${at}]`,
      backend: backendId(backend),
    })),
  );
