import type {
  Artifact,
  Part,
  Task,
  TaskChange,
  TaskMessage,
  TaskState,
} from '../../../../runtime/protocol/task.ts';
import type { Json } from '../json.ts';
import type { MessageAnswer } from '../../../../runtime/protocol/task-service.ts';
import type { Operations, PushConfig, Sent, StreamItem } from '../operations.ts';
import { ROLE_NAMES, STATE_NAMES } from '../parts.ts';

type Fields = { readonly [key: string]: Json };

/**
 * How tasks are written in ProtoJSON: what is empty is left out.
 *
 * - `generations` whether tasks and their changes carry their numbers, which 1.0 has no field for.
 */
export interface WriteOptions {
  readonly generations: boolean;
}

/** Where a message or an event belongs. */
interface Place {
  readonly taskId: string;
  readonly contextId: string;
}

export const writeSent = (sent: Sent, options: WriteOptions): Fields =>
  sent.kind === 'task' ? { task: writeTask(sent.task, options) } : writeAnswer(sent);

/** Of no task. */
const writeAnswer = ({ message, contextId }: MessageAnswer): Fields => ({
  message: writeMessage(message, { contextId }),
});

export function writeTask(task: Task, { generations }: WriteOptions): Fields {
  const { id, contextId, status, artifacts, history, metadata, generation } = task;
  const place = { taskId: id, contextId };
  return {
    id,
    contextId,
    status: writeStatus(status.state, status.message, status.atMs, place),
    ...(artifacts.length === 0 ? {} : { artifacts: artifacts.map(writeArtifact) }),
    ...(history.length === 0 ? {} : { history: history.map((message) => writeMessage(message, place)) }),
    ...(metadata === undefined ? {} : { metadata }),
    ...numberOf(generation, generations),
  };
}

function writeStatus(state: TaskState, message: TaskMessage | undefined, atMs: number, place: Place): Fields {
  return {
    state: STATE_NAMES[state],
    ...(message === undefined ? {} : { message: writeMessage(message, place) }),
    timestamp: new Date(atMs).toISOString(),
  };
}

export function writeMessage(message: TaskMessage, { taskId, contextId }: Partial<Place>): Fields {
  const { messageId, role, parts, metadata, extensions = [], referenceTaskIds = [] } = message;
  return {
    messageId,
    ...(contextId === undefined ? {} : { contextId }),
    ...(taskId === undefined ? {} : { taskId }),
    role: ROLE_NAMES[role],
    parts: parts.map(writePart),
    ...(metadata === undefined ? {} : { metadata }),
    ...(extensions.length === 0 ? {} : { extensions }),
    ...(referenceTaskIds.length === 0 ? {} : { referenceTaskIds }),
  };
}

function writePart({ mediaType = '', filename = '', metadata, ...content }: Part): Fields {
  return {
    ...content,
    ...(metadata === undefined ? {} : { metadata }),
    ...(filename === '' ? {} : { filename }),
    ...(mediaType === '' ? {} : { mediaType }),
  };
}

function writeArtifact(artifact: Artifact): Fields {
  const { artifactId, name = '', description = '', parts, metadata, extensions = [] } = artifact;
  return {
    artifactId,
    ...(name === '' ? {} : { name }),
    ...(description === '' ? {} : { description }),
    ...(parts.length === 0 ? {} : { parts: parts.map(writePart) }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(extensions.length === 0 ? {} : { extensions }),
  };
}

/** ProtoJSON writes long integers as text. */
const numberOf = (generation: number, isShown: boolean): Fields =>
  isShown ? { generation: String(generation) } : {};

export function writeItem(item: StreamItem, options: WriteOptions): Fields {
  if (item.kind !== 'change') return writeSent(item, options);
  return writeChange(item.change, { taskId: item.taskId, contextId: item.contextId }, options);
}

function writeChange(change: TaskChange, place: Place, { generations }: WriteOptions): Fields {
  const number = numberOf(change.generation, generations);
  switch (change.kind) {
    case 'status': {
      const status = writeStatus(change.state, change.message, change.atMs, place);
      return { statusUpdate: { ...place, status, ...number } };
    }
    case 'artifact':
      return {
        artifactUpdate: {
          ...place,
          artifact: writeArtifact(change.artifact),
          ...(change.append ? { append: true } : {}),
          ...(change.lastChunk ? { lastChunk: true } : {}),
          ...number,
        },
      };
    case 'message':
      return { message: writeMessage(change.message, place) };
  }
}

export const writeTasks = (
  { tasks, nextPageToken, pageSize, total }: Operations['list']['out'],
  options: WriteOptions,
): Fields => ({
  tasks: tasks.map((task) => writeTask(task, options)),
  nextPageToken,
  pageSize,
  totalSize: total,
});

export function writePush({ id, taskId, url, token = '', authentication }: PushConfig): Fields {
  return {
    id,
    taskId,
    url,
    ...(token === '' ? {} : { token }),
    ...(authentication === undefined ? {} : { authentication: { ...authentication } }),
  };
}

export const writePushList = ({ configs, nextPageToken }: Operations['listPush']['out']): Fields => ({
  configs: configs.map(writePush),
  nextPageToken,
});
