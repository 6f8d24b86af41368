import type { Artifact, Part, Task, TaskMessage, TaskState } from '../../../../runtime/protocol/task.ts';
import { ROLE_NAMES, STATE_NAMES, defined, objectOf } from '../parts.ts';
import type { Json } from '../json.ts';
import { isoOf, writePush } from '../older-dialects.ts';
import type { PushConfig, SecurityScheme, Sent, ServedCard, StreamItem } from '../operations.ts';
import { writeCard } from './card.ts';

type JsonObject = { readonly [key: string]: Json };

/** As the a2a.proto of 0.3 spells them. */
const STATE: Readonly<Record<TaskState, string>> = { ...STATE_NAMES, canceled: 'TASK_STATE_CANCELLED' };

interface Place {
  readonly taskId: string;
  readonly contextId: string;
}

/** A task, or a message that is of none. */
export const writeProtoSent = (sent: Sent): JsonObject =>
  sent.kind === 'task'
    ? { task: writeProtoTask(sent.task) }
    : { message: writeMessage(sent.message, { contextId: sent.contextId }) };

export function writeProtoTask(task: Task): JsonObject {
  const { id, contextId, status, artifacts, history, metadata } = task;
  const place = { taskId: id, contextId };
  return {
    id,
    contextId,
    status: writeStatus(status.state, status.atMs, status.message, place),
    ...(artifacts.length === 0 ? {} : { artifacts: artifacts.map(writeArtifact) }),
    ...(history.length === 0 ? {} : { history: history.map((said) => writeMessage(said, place)) }),
    ...defined({ metadata }),
  };
}

/** One event of a stream: which it is, is said by the member that it has. */
export function writeProtoItem(item: StreamItem): JsonObject {
  if (item.kind !== 'change') return writeProtoSent(item);
  const { taskId, contextId, change, isLast } = item;
  const place = { taskId, contextId };
  switch (change.kind) {
    case 'message':
      return { message: writeMessage(change.message, place) };
    case 'status': {
      const status = writeStatus(change.state, change.atMs, change.message, place);
      return { statusUpdate: { ...place, status, final: isLast } };
    }
    case 'artifact': {
      const { artifact, append, lastChunk } = change;
      return { artifactUpdate: { ...place, artifact: writeArtifact(artifact), append, lastChunk } };
    }
  }
}

function writeStatus(
  state: TaskState,
  atMs: number,
  message: TaskMessage | undefined,
  place: Place,
): JsonObject {
  return {
    state: STATE[state],
    ...(message === undefined ? {} : { message: writeMessage(message, place) }),
    timestamp: isoOf(atMs),
  };
}

/** Of a message the proto has no tasks that it refers to. */
export function writeMessage(
  { messageId, role, parts, metadata, extensions }: TaskMessage,
  place: Partial<Place>,
): JsonObject {
  return {
    messageId,
    ...place,
    role: ROLE_NAMES[role],
    content: parts.map(writePart),
    ...defined({ metadata, extensions }),
  };
}

const writeArtifact = ({ parts, ...artifact }: Artifact): JsonObject => ({
  ...defined(artifact),
  parts: parts.map(writePart),
});

/** The proto has neither names of files nor metadata of parts. */
function writePart(part: Part): JsonObject {
  if ('text' in part) return { text: part.text };
  if ('data' in part) return { data: { data: objectOf(part).data } };
  const mimeType = defined({ mimeType: part.mediaType });
  const content = 'raw' in part ? { fileWithBytes: part.raw } : { fileWithUri: part.url };
  return { file: { ...content, ...mimeType } };
}

export const writeProtoPush = (config: PushConfig): JsonObject => ({
  name: `tasks/${config.taskId}/pushNotificationConfigs/${config.id}`,
  pushNotificationConfig: writePush(config),
});

export function writeProtoCard(card: ServedCard): JsonObject {
  const { security: _, securitySchemes: __, ...shown } = writeCard(card);
  const schemes = Object.entries(card.securitySchemes);
  if (schemes.length === 0) return shown;
  return {
    ...shown,
    securitySchemes: Object.fromEntries(schemes.map(([name, scheme]) => [name, writeScheme(scheme)])),
    security: schemes.map(([name]) => ({ schemes: { [name]: { list: [] } } })),
  };
}

function writeScheme(scheme: SecurityScheme): JsonObject {
  switch (scheme.type) {
    case 'apiKey': {
      const { name, description } = scheme;
      return { apiKeySecurityScheme: { name, location: scheme.in, ...defined({ description }) } };
    }
    case 'http': {
      const { type: _, ...rest } = scheme;
      return { httpAuthSecurityScheme: defined(rest) };
    }
    case 'mutualTLS':
      return { mtlsSecurityScheme: defined({ description: scheme.description }) };
  }
}
