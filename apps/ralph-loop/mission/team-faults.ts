import { capabilitiesOf, type Mission } from './mission.ts';
import { nearest } from './nearest.ts';

/** What of the mission nobody in a team that offers `offered` could do; what it offers is said once, at the end. */
export function teamFaults(mission: Mission, offered: ReadonlySet<string>): string[] {
  const all = [...offered].sort();
  let isAnyStrange = false;
  const faults = mission.tasks.flatMap((task, index) =>
    capabilitiesOf(task)
      .filter((id) => !offered.has(id))
      .map((id) => {
        const meant = nearest(id, all);
        isAnyStrange ||= meant === undefined;
        const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
        return `${fieldOf(mission, index, id)}: nobody in the team offers "${id}"${hint}`;
      }),
  );
  if (!isAnyStrange) return faults;
  return [...faults, all.length === 0 ? 'The team offers nothing' : `The team offers ${all.join(', ')}`];
}

function fieldOf(mission: Mission, index: number, capability: string): string {
  const position = mission.tasks[index]?.requiredCapabilities?.indexOf(capability);
  return `tasks[${index}].${position === undefined ? 'capability' : `requiredCapabilities[${position}]`}`;
}
