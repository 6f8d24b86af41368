import type { Part, TaskChange, TaskMessage } from '../../runtime/protocol/task.ts';
import type { TaskOpening } from './task-log.ts';

/** What the names and the frame of anything cost, about. */
const FRAME_BYTES = 64;

/** About how much memory a change takes, in bytes. A chunk costs what the chunk holds. */
export function sizeOfChange(change: TaskChange): number {
  if (change.kind === 'artifact') return FRAME_BYTES + sizeOfParts(change.artifact.parts);
  return change.message === undefined ? FRAME_BYTES : sizeOfSaid(change.message);
}

/** What a task costs before anything is said. */
export const sizeOfOpening = ({ id, contextId, metadata }: TaskOpening): number =>
  FRAME_BYTES + id.length + contextId.length + sizeOfJson(metadata);

/** What a message costs that somebody says. */
export const sizeOfSaid = (message: TaskMessage): number => FRAME_BYTES + sizeOfMessage(message);

export const sizeOfMessage = ({ parts, metadata }: TaskMessage): number =>
  sizeOfParts(parts) + sizeOfJson(metadata);

const sizeOfParts = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => sum + sizeOfPart(part), 0);

function sizeOfPart(part: Part): number {
  const { metadata } = part;
  const facts = FRAME_BYTES + (metadata === undefined ? 0 : sizeOfJson(metadata));
  if ('text' in part) return facts + part.text.length;
  if ('raw' in part) return facts + part.raw.length;
  if ('url' in part) return facts + part.url.length;
  return facts + sizeOfJson(part.data);
}

export const sizeOfJson = (value: unknown): number =>
  value === undefined ? 0 : (JSON.stringify(value) ?? '').length;
