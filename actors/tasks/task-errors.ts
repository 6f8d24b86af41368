import { type ErrorCode, errorToData, OrreryError } from '../../runtime/protocol/errors.ts';
import { type NoteFailure, toldFailure } from '../../runtime/protocol/told-failure.ts';
import type { Part, TaskMessage, TaskState } from '../../runtime/protocol/task.ts';

/** There is no such task, or it is somebody else's: who asks does not learn which. */
export const taskNotFound = (taskId: string): OrreryError =>
  new OrreryError('TASK_NOT_FOUND', `There is no task "${taskId}"`, { details: { taskId } });

/** `wanted`: what cannot be done any more. */
export const taskOver = (taskId: string, state: TaskState, wanted: string): OrreryError =>
  new OrreryError('TASK_OVER', `The task "${taskId}" is ${state}: it can not be ${wanted}`, {
    details: { taskId, state },
  });

/** It was said to the task as it was after change `wanted`, and more has happened since. */
export const taskGenerationMismatch = (taskId: string, generation: number, wanted: number): OrreryError =>
  new OrreryError(
    'TASK_GENERATION_MISMATCH',
    `The task "${taskId}" has had ${generation} changes, not ${wanted}`,
    { details: { taskId, generation } },
  );

/** The owner has as many tasks, or waiting messages of one, as are allowed. */
export const quotaExceeded = (what: string, limit: number): OrreryError =>
  new OrreryError('QUOTA_EXCEEDED', `No more than ${limit} ${what}`, { details: { what, limit } });

/** Codes that say that somebody may not do what they want, by whichever rule. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'TIER_VIOLATION',
  'SANDBOX_VIOLATION',
  'ESCALATION_REQUIRED',
  'NOT_PERMITTED',
  'UNAUTHENTICATED',
]);

/**
 * What stands in the status message of a task that failed: the sentence, and `{code, message}` as data. For lack of
 * permission the code is UNAUTHORIZED, and `reason` the rule's own. What was thrown is not told, but noted, under `id`.
 */
export function failureParts(error: unknown, note: NoteFailure): Part[] {
  const { code, message, id } = toldFailure(error, note);
  const retryAfterMs = errorToData(error).details?.['retryAfterMs'];
  const data = {
    ...(REFUSALS.has(code) ? { code: 'UNAUTHORIZED', reason: code } : { code }),
    message,
    ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
    ...(id !== undefined && { id }),
  };
  return [{ text: message }, { data }];
}

/** An agent's message with these parts. */
export const agentMessage = (messageId: string, parts: Part[]): TaskMessage => ({
  messageId,
  role: 'agent',
  parts,
});
