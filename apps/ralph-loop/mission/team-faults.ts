import { capabilitiesOf, type Mission } from './mission.ts';
import { nearest } from './nearest.ts';

/** What of the mission nobody in a team that offers `offered` could do. */
export function teamFaults(mission: Mission, offered: ReadonlySet<string>): string[] {
  return mission.tasks.flatMap((task, index) =>
    capabilitiesOf(task)
      .filter((id) => !offered.has(id))
      .map(
        (id) =>
          `${fieldOf(mission, index, id)}: nobody in the team offers "${id}"; ${alternatives(id, offered)}`,
      ),
  );
}

function fieldOf(mission: Mission, index: number, capability: string): string {
  const position = mission.tasks[index]?.requiredCapabilities?.indexOf(capability);
  return `tasks[${index}].${position === undefined ? 'capability' : `requiredCapabilities[${position}]`}`;
}

function alternatives(id: string, offered: ReadonlySet<string>): string {
  const all = [...offered].sort();
  const meant = nearest(id, all);
  if (meant !== undefined) return `did you mean "${meant}"?`;
  return all.length === 0 ? 'it offers nothing' : `it offers ${all.join(', ')}`;
}
