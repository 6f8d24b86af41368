import type { Artifact, Task, TaskMessage, TaskState } from '../../../../runtime/protocol/task.ts';
import type { Json } from '../json.ts';
import { ownTaskId } from './given-ids.ts';
import { isoOf, writePush } from '../older-dialects.ts';
import type { PushConfig, StreamItem } from '../operations.ts';
import { defined, writeTagged } from '../parts.ts';

type JsonObject = { readonly [key: string]: Json };

/** What has no state of its own in 0.1 shows as that which its callers handle alike (C-11). */
const SHOWN: Readonly<Partial<Record<TaskState, TaskState>>> = {
  rejected: 'failed',
  'auth-required': 'input-required',
};

export function writeTask(task: Task): JsonObject {
  const { artifacts, history, metadata } = task;
  return {
    id: ownTaskId(task.id),
    sessionId: task.contextId,
    status: writeStatus(task.status),
    ...(artifacts.length === 0
      ? {}
      : { artifacts: artifacts.map((artifact, index) => writeArtifact(artifact, { index })) }),
    ...(history.length === 0 ? {} : { history: history.map(writeMessage) }),
    ...defined({ metadata }),
  };
}

/** 0.1 has no word for a task in a stream: it is told by what it has made, and then by where it stands. */
export async function* itemsOf(items: AsyncIterable<StreamItem>): AsyncGenerator<StreamItem, void> {
  for await (const item of items) {
    if (item.kind === 'task') yield* changesOf(item);
    else yield item;
  }
}

function* changesOf({ task, isLast }: Extract<StreamItem, { kind: 'task' }>): Generator<StreamItem, void> {
  const { id: taskId, contextId, artifacts, status, generation } = task;
  const { atMs } = status;
  const item = { kind: 'change', taskId, contextId } as const;
  for (const artifact of artifacts) {
    const change = { kind: 'artifact', generation, atMs, artifact, append: false, lastChunk: false } as const;
    yield { ...item, change, isLast: false };
  }
  yield { ...item, change: { ...status, kind: 'status', generation }, isLast };
}

/** One stream's changes: artifacts are told apart by when they first came, as in the task. */
export function itemWriter(): (item: StreamItem) => JsonObject {
  const indexes = new Map<string, number>();
  const indexOf = ({ artifactId }: Artifact): number => {
    const index = indexes.get(artifactId) ?? indexes.size;
    indexes.set(artifactId, index);
    return index;
  };
  return (item) => {
    if (item.kind === 'message') return { message: writeMessage(item.message) };
    if (item.kind === 'task') return writeTask(item.task);
    const { change, isLast } = item;
    const id = ownTaskId(item.taskId);
    if (change.kind === 'status') return { id, status: writeStatus(change), final: isLast };
    if (change.kind === 'message') return { id, message: writeMessage(change.message) };
    const { artifact, append, lastChunk } = change;
    return { id, artifact: writeArtifact(artifact, { index: indexOf(artifact), append, lastChunk }) };
  };
}

function writeStatus(status: {
  readonly state: TaskState;
  readonly atMs: number;
  readonly message?: TaskMessage | undefined;
}): JsonObject {
  const { state, message, atMs } = status;
  return {
    state: SHOWN[state] ?? state,
    ...(message === undefined ? {} : { message: writeMessage(message) }),
    timestamp: isoOf(atMs),
  };
}

export const writeMessage = ({ role, parts, metadata }: TaskMessage): JsonObject => ({
  role,
  parts: parts.map((part) => writeTagged(part, 'type')),
  ...defined({ metadata }),
});

const writeArtifact = ({ name, description, parts, metadata }: Artifact, place: JsonObject): JsonObject => ({
  ...defined({ name, description }),
  parts: parts.map((part) => writeTagged(part, 'type')),
  ...place,
  ...defined({ metadata }),
});

export function writeTaskPush(config: PushConfig): JsonObject {
  const { id: _, ...address } = writePush(config);
  return { id: ownTaskId(config.taskId), pushNotificationConfig: address };
}
