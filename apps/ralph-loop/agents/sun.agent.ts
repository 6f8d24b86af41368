import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { assignTasks } from './assign.ts';
import { missionAssign, missionRecover, missionRule } from './capabilities.ts';
import { recoverTask } from './recover.ts';
import { ruleDispute } from './rule-dispute.ts';

export const sun = defineAgent({ ...PLANETS.sun, delivery: 'retry' })
  .handle(missionAssign, ({ tasks, roster }) => assignTasks(tasks, roster))
  .handle(missionRecover, recoverTask)
  .handle(missionRule, ruleDispute);
