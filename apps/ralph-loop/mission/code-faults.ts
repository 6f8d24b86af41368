import { branchNameFault } from './branch-name-fault.ts';
import { CODE_CHANGE, changesCode } from './changes-code.ts';
import { capabilitiesOf, type Mission, type MissionGate, type MissionTask } from './mission.ts';

/** The fields of a task that only one that changes the repository may have. */
const CODE_FIELDS = ['gates', 'touches', 'protect', 'permission', 'approve', 'limits'] as const;

/** Faults in how a mission changes the repository: its branch, its gates, and which tasks may say what. */
export function codeFaults({ code, tasks }: Pick<Mission, 'code' | 'tasks'>): string[] {
  const shared = code?.gates ?? [];
  const branch = code?.branch === undefined ? undefined : branchNameFault(code.branch);
  return [
    ...(branch === undefined ? [] : [`code.branch: ${branch}, found "${code?.branch}"`]),
    ...sameNames(shared, [], 'code.gates'),
    ...tasks.flatMap((task, index) =>
      changesCode(task)
        ? changeFaults(task, { field: `tasks[${index}]`, hasCode: code !== undefined, shared })
        : strayFields(task, `tasks[${index}]`),
    ),
  ];
}

interface At {
  readonly field: string;
  readonly hasCode: boolean;
  readonly shared: readonly MissionGate[];
}

function changeFaults(task: MissionTask, { field, hasCode, shared }: At): string[] {
  const { gates = [] } = task;
  const named = task.capability === undefined ? 'requiredCapabilities' : 'capability';
  const faults = sameNames(gates, shared, `${field}.gates`);
  if (capabilitiesOf(task).length > 1)
    faults.push(
      `${field}.requiredCapabilities: expected ${CODE_CHANGE} alone or not at all: one agent has a worktree`,
    );
  if (!hasCode)
    faults.push(`${field}.${named}: "${CODE_CHANGE}" needs the field code of the mission, which is missing`);
  else if (gates.length + shared.length === 0)
    faults.push(
      `${field}.gates: expected at least one gate, here or in code.gates: an agent's word that it is done is not enough`,
    );
  return faults;
}

const strayFields = (task: MissionTask, field: string): string[] =>
  CODE_FIELDS.filter((name) => task[name] !== undefined).map(
    (name) =>
      `${field}.${name}: only for tasks whose capability is ${CODE_CHANGE}, found ${capabilitiesOf(task).join(', ')}`,
  );

/** Gates are told apart by their names, also those of the mission and those of the task. */
function sameNames(gates: readonly MissionGate[], before: readonly MissionGate[], field: string): string[] {
  const seen = new Set(before.map(({ name }) => name));
  return gates.flatMap(({ name }, index) => {
    if (seen.has(name)) return [`${field}[${index}].name: "${name}" is already the name of a gate`];
    seen.add(name);
    return [];
  });
}
