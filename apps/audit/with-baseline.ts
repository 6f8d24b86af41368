import type { Mission } from '@orrery/ralph-loop';
import { missionCompare } from './capabilities.ts';

/** The mission, with the earlier report in `file` given to whoever compares. */
export const withBaseline = (mission: Mission, file: string): Mission => ({
  ...mission,
  tasks: mission.tasks.map((task) =>
    task.capability === missionCompare.id ? { ...task, input: { ...task.input, baseline: file } } : task,
  ),
});
