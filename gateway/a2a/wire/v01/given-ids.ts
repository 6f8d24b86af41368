import { createHash } from 'node:crypto';
import type { TaskOwner } from '../../../../runtime/protocol/task-service.ts';

const MARK_LENGTH = 22;
const GIVEN = new RegExp(`^(.+)~[\\w-]{${MARK_LENGTH}}$`, 's');

/**
 * The id of the task that an owner calls `id`: that, and a mark of whose it is. So all owners may choose the same, and nobody
 * learns what another has chosen; and the owner's word can be read off it.
 */
export function givenTaskId({ principalId, tenant }: TaskOwner, id: string): string {
  const whose = JSON.stringify([tenant ?? null, principalId, id]);
  return `${id}~${createHash('sha256').update(whose).digest('base64url').slice(0, MARK_LENGTH)}`;
}

/** Its owner has chosen this task's id. */
export const isGivenTaskId = (taskId: string): boolean => GIVEN.test(taskId);

/** What its owner calls the task: the id that was chosen, or that which it was given here. */
export const ownTaskId = (taskId: string): string => GIVEN.exec(taskId)?.[1] ?? taskId;
