import { capabilitiesOf, type Mission } from './mission.ts';
import { nearest } from './nearest.ts';

/** Faults for capabilities of a mission that nobody offers. The last line lists what the team offers. */
export function teamFaults(mission: Mission, offered: ReadonlySet<string>): string[] {
  const all = [...offered].sort();
  const missing = mission.tasks.flatMap((task, index) =>
    capabilitiesOf(task)
      .filter((id) => !offered.has(id))
      .map((id) => ({ field: fieldOf(mission, index, id), id, meant: nearest(id, all) })),
  );
  const faults = missing.map(({ field, id, meant }) => {
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return `${field}: nobody in the team offers "${id}"${hint}`;
  });
  if (missing.every(({ meant }) => meant !== undefined)) return faults;
  return [...faults, all.length === 0 ? 'The team offers nothing' : `The team offers ${all.join(', ')}`];
}

/** Faults for tasks that recall, where nobody remembers. */
export const recallFaults = (mission: Mission): string[] =>
  mission.tasks.flatMap(({ recall }, index) =>
    recall === true
      ? [
          `tasks[${index}].recall: nobody remembers what could be recalled; orrery run --skills starts who does`,
        ]
      : [],
  );

function fieldOf(mission: Mission, index: number, capability: string): string {
  const position = mission.tasks[index]?.requiredCapabilities?.indexOf(capability);
  return `tasks[${index}].${position === undefined ? 'capability' : `requiredCapabilities[${position}]`}`;
}
