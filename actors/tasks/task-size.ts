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

/** What a number, a truth value or the frame of a list takes, about. */
const SMALL_BYTES = 8;

/** About as many characters as its JSON has, which is not made for that: of long texts it would be the most work of all. */
export function sizeOfJson(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return value.length + SMALL_BYTES;
  if (typeof value !== 'object' || value === null) return SMALL_BYTES;
  let size = SMALL_BYTES;
  if (Array.isArray(value)) for (const item of value) size += sizeOfJson(item);
  else
    for (const name of Object.keys(value))
      size += name.length + SMALL_BYTES + sizeOfJson((value as Record<string, unknown>)[name]);
  return size;
}
