import { OrreryError } from '../../runtime/protocol/errors.ts';
import type { TaskState } from '../../runtime/protocol/task.ts';

/** There is no such task, or it is somebody else's: who asks does not learn which. */
export const taskNotFound = (taskId: string): OrreryError =>
  new OrreryError('TASK_NOT_FOUND', `There is no task "${taskId}"`, { details: { taskId } });

/** `wanted`: what cannot be done any more. */
export const taskOver = (taskId: string, state: TaskState, wanted: string): OrreryError =>
  new OrreryError('TASK_OVER', `The task "${taskId}" is ${state}: it can not be ${wanted}`, {
    details: { taskId, state },
  });

/** Its owner has as many tasks, or messages to one, as one may have. */
export const quotaExceeded = (what: string, limit: number): OrreryError =>
  new OrreryError('QUOTA_EXCEEDED', `No more than ${limit} ${what}`, { details: { what, limit } });
