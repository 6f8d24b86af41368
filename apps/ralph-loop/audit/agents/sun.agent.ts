import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { assignTasks } from '../assign.ts';
import { missionAssign } from '../capabilities.ts';

export const sun = defineAgent({ ...PLANETS.sun, delivery: 'retry' }).handle(
  missionAssign,
  ({ tasks, roster }) => assignTasks(tasks, roster),
);
