import type { MissionTask } from './mission.ts';

/** The capability of tasks that change the repository. */
export const CODE_CHANGE = 'code.change';

/** Whether a task changes the repository. */
export const changesCode = ({ capability, requiredCapabilities = [] }: MissionTask): boolean =>
  capability === CODE_CHANGE || requiredCapabilities.includes(CODE_CHANGE);
