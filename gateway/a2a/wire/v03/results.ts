import type { Artifact, Task, TaskMessage, TaskState } from '../../../../runtime/protocol/task.ts';
import type { Json } from '../json.ts';
import { isoOf, writePush } from '../older-dialects.ts';
import type { PushConfig, Sent, StreamItem } from '../operations.ts';
import { defined, writeTagged } from '../parts.ts';

type JsonObject = { readonly [key: string]: Json };

/** Where a message or change belongs. */
interface Place {
  readonly taskId: string;
  readonly contextId: string;
}

interface Status {
  readonly state: TaskState;
  readonly atMs: number;
  readonly message?: TaskMessage | undefined;
}

/** A task, or a message that is of none. */
export const writeSent = (sent: Sent): JsonObject =>
  sent.kind === 'task' ? writeTask(sent.task) : writeMessage(sent.message, { contextId: sent.contextId });

export function writeTask(task: Task): JsonObject {
  const place = { taskId: task.id, contextId: task.contextId };
  return {
    kind: 'task',
    id: task.id,
    contextId: task.contextId,
    status: writeStatus(task.status, place),
    ...listed('artifacts', task.artifacts.map(writeArtifact)),
    ...listed(
      'history',
      task.history.map((message) => writeMessage(message, place)),
    ),
    ...defined({ metadata: task.metadata }),
  };
}

export function writeMessage(said: TaskMessage, place: Partial<Place>): JsonObject {
  const { messageId, role, parts, metadata, extensions, referenceTaskIds } = said;
  return {
    kind: 'message',
    messageId,
    role,
    parts: parts.map((part) => writeTagged(part, 'kind')),
    ...place,
    ...defined({ metadata, extensions, referenceTaskIds }),
  };
}

function writeStatus({ state, message, atMs }: Status, place: Place): JsonObject {
  return {
    state,
    ...(message === undefined ? {} : { message: writeMessage(message, place) }),
    timestamp: isoOf(atMs),
  };
}

function writeArtifact({ parts, ...artifact }: Artifact): JsonObject {
  return { ...defined(artifact), parts: parts.map((part) => writeTagged(part, 'kind')) };
}

/** One item of a stream; the last one that says where the task stands is `final`. */
export function writeItem(item: StreamItem): JsonObject {
  if (item.kind !== 'change') return writeSent(item);
  const { taskId, contextId, change, isLast } = item;
  const place = { taskId, contextId };
  switch (change.kind) {
    case 'status':
      return { kind: 'status-update', ...place, status: writeStatus(change, place), final: isLast };
    case 'message':
      return writeMessage(change.message, place);
    case 'artifact': {
      const { artifact, append, lastChunk } = change;
      return { kind: 'artifact-update', ...place, artifact: writeArtifact(artifact), append, lastChunk };
    }
  }
}

export function writeTaskPush(config: PushConfig): JsonObject {
  return { taskId: config.taskId, pushNotificationConfig: writePush(config) };
}

const listed = (name: string, items: readonly Json[]): JsonObject =>
  items.length === 0 ? {} : { [name]: items };
