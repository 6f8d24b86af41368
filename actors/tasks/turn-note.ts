import { isDeepStrictEqual } from 'node:util';
import type { TaskMessage } from '../../runtime/protocol/task.ts';
import type { TaskOwner } from '../../runtime/protocol/task-service.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { TaskNote } from './task-note.ts';
import { sizeOfMessage } from './task-size.ts';
import type { Turn } from './turn.ts';
import type { TurnMemo } from './turn-memo.ts';

/** So much of what was said before goes with each turn. */
const HISTORY = 100;
const HISTORY_BYTES = 256 * 1024;

/** What the envelope of a turn says of its task. */
export function noteOf({ task, opening, message }: Turn, memo: TurnMemo, hasApprover: boolean): TaskNote {
  const { state, turn, approvals } = memo;
  return {
    taskId: opening.id,
    contextId: opening.contextId,
    agentId: opening.agentId,
    owner: opening.owner,
    taskState: task.status.state,
    message,
    history: newest(task.history.filter((one) => !isSameMessage(one, message))),
    ...(opening.metadata === undefined ? {} : { metadata: opening.metadata }),
    ...(state === undefined ? {} : { state }),
    ...(turn?.answer === undefined ? {} : { answer: turn.answer }),
    approvals,
    hasApprover,
    ...(isOf(memo.taint, opening.owner) ? { isOutside: true } : {}),
  };
}

/** Two messages with one id are two where they say something else. */
export const isSameMessage = (one: TaskMessage, other: TaskMessage): boolean =>
  one.messageId === other.messageId && isDeepStrictEqual(one.parts, other.parts);

/** The owner itself is where it came from, by whatever protocol: `a2a:` or `mcp:`, and who that is. */
export const isOf = (taint: Taint | undefined, owner: TaskOwner | undefined): boolean =>
  taint?.some((source) => source.slice(source.indexOf(':') + 1) === owner?.principalId) === true;

function newest(history: readonly TaskMessage[]): TaskMessage[] {
  let bytes = 0;
  const found: TaskMessage[] = [];
  for (const message of history.slice(-HISTORY).reverse()) {
    bytes += sizeOfMessage(message);
    if (bytes > HISTORY_BYTES) break;
    found.unshift(message);
  }
  return found;
}
