import type { TaskMessage, TaskState } from '../../../runtime/protocol/task.ts';

/** Task states as the enum of A2A 1.0 has them, by its numbers. */
export const STATE_WORDS = {
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  rejected: 'TASK_STATE_REJECTED',
  'auth-required': 'TASK_STATE_AUTH_REQUIRED',
} as const satisfies Record<TaskState, string>;

/** The enum's numbers, which ProtoJSON takes for names as well; 0 says nothing. */
export const STATES_BY_NUMBER: readonly (TaskState | undefined)[] = [
  undefined,
  ...(Object.keys(STATE_WORDS) as TaskState[]),
];

export const ROLE_WORDS = {
  user: 'ROLE_USER',
  agent: 'ROLE_AGENT',
} as const satisfies Record<TaskMessage['role'], string>;

/** As `STATES_BY_NUMBER`. */
export const ROLES_BY_NUMBER: readonly (TaskMessage['role'] | undefined)[] = [undefined, 'user', 'agent'];
