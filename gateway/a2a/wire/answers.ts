import { z } from 'zod';
import type { RemoteEvent, RemoteStatus, RemoteTask } from '../../../runtime/protocol/remote-agent.ts';
import { type Artifact, type TaskMessage, TASK_STATES } from '../../../runtime/protocol/task.ts';
import { AnyRole, MessageFacts, messageOf, Metadata } from './message-fields.ts';
import { AnyPart, defined, optional } from './parts.ts';

const Text = z.string().min(1);

/** `canceled`, `TASK_STATE_CANCELED` and `TASK_STATE_CANCELLED` are one; of `unknown` it is known that it is not over. */
const State = z
  .string()
  .transform((text) =>
    text
      .replace(/^TASK_STATE_/, '')
      .toLowerCase()
      .replaceAll('_', '-'),
  )
  .transform((text) => (text === 'cancelled' ? 'canceled' : text === 'unknown' ? 'working' : text))
  .pipe(z.enum(TASK_STATES));

const WiredMessage = z.object({
  ...MessageFacts,
  messageId: optional(z.string()),
  role: AnyRole,
  parts: optional(z.array(AnyPart)),
  content: optional(z.array(AnyPart)),
});

function readMessage({ messageId, parts, content, ...said }: z.output<typeof WiredMessage>): TaskMessage {
  const named = messageId === '' ? undefined : messageId;
  return messageOf({ ...said, messageId: named, parts: parts ?? content ?? [] }, () => 'unnamed');
}

const Message = WiredMessage.transform(readMessage);

const WiredArtifact = z.object({
  artifactId: optional(z.string()),
  index: optional(z.int()),
  name: optional(z.string()),
  description: optional(z.string()),
  parts: z.array(AnyPart).default([]),
  metadata: optional(Metadata),
  extensions: optional(z.array(z.string())),
  append: optional(z.boolean()),
  lastChunk: optional(z.boolean()),
});
type WiredArtifact = z.output<typeof WiredArtifact>;

/** Where artifacts have no id, as in 0.1, their place names them. */
const artifactOf = ({
  artifactId,
  index,
  append: _append,
  lastChunk: _lastChunk,
  ...facts
}: WiredArtifact): Artifact => ({
  artifactId: artifactId === undefined || artifactId === '' ? `artifact-${index ?? 0}` : artifactId,
  parts: facts.parts,
  ...defined({
    name: facts.name,
    description: facts.description,
    metadata: facts.metadata,
    extensions: facts.extensions,
  }),
});

const Status = z
  .object({
    state: State,
    message: optional(Message),
    update: optional(Message),
    timestamp: optional(z.string()),
  })
  .transform(({ state, message, update, timestamp }): RemoteStatus => {
    const atMs = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
    return { state, ...defined({ message: message ?? update }), ...(Number.isNaN(atMs) ? {} : { atMs }) };
  });

const WiredTask = z
  .object({
    id: Text,
    contextId: optional(z.string()),
    sessionId: optional(z.string()),
    status: Status,
    artifacts: optional(z.array(WiredArtifact)),
    history: optional(z.array(Message)),
    metadata: optional(Metadata),
  })
  .transform(
    ({ id, contextId, sessionId, status, artifacts, history, metadata }): RemoteTask => ({
      id,
      contextId: contextId ?? sessionId,
      status,
      artifacts: (artifacts ?? []).map((one, at) => artifactOf({ ...one, index: one.index ?? at })),
      history: history ?? [],
      ...defined({ metadata }),
    }),
  );

const Ids = {
  taskId: optional(z.string()),
  id: optional(z.string()),
  contextId: optional(z.string()),
  metadata: optional(Metadata),
};

const StatusUpdate = z
  .object({ ...Ids, status: Status })
  .transform(({ taskId, id, contextId, metadata, status }, context): RemoteEvent => {
    const of = taskId ?? id;
    if (of === undefined) return without(context, 'taskId');
    return { kind: 'status', taskId: of, contextId, status, ...defined({ metadata }) };
  });

const ArtifactUpdate = z
  .object({
    ...Ids,
    artifact: WiredArtifact,
    append: optional(z.boolean()),
    lastChunk: optional(z.boolean()),
  })
  .transform(({ taskId, id, contextId, artifact, append, lastChunk }, context): RemoteEvent => {
    const of = taskId ?? id;
    if (of === undefined) return without(context, 'taskId');
    return {
      kind: 'artifact',
      taskId: of,
      contextId,
      artifact: artifactOf(artifact),
      append: append ?? artifact.append ?? false,
      lastChunk: lastChunk ?? artifact.lastChunk ?? false,
    };
  });

function without(context: z.core.$RefinementCtx, field: string): never {
  context.addIssue({ code: 'custom', path: [field], message: 'expected the id of a task' });
  return z.NEVER;
}

const asTask = WiredTask.transform((task): RemoteEvent => ({ kind: 'task', task }));
const asMessage = WiredMessage.transform(
  (wired): RemoteEvent => ({ kind: 'message', message: readMessage(wired), contextId: wired.contextId }),
);

/**
 * Which of the four it is: by the one member that it has (1.0), by its `kind` (0.3), or by what a task, a message or an
 * update alone has (0.1 and before).
 */
export function schemaOfEvent(value: unknown): {
  readonly schema: z.ZodType<RemoteEvent>;
  readonly inner: unknown;
} {
  const item = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const member = (name: string): boolean => typeof item[name] === 'object' && item[name] !== null;
  if (member('task')) return { schema: asTask, inner: item['task'] };
  if (member('statusUpdate')) return { schema: StatusUpdate, inner: item['statusUpdate'] };
  if (member('artifactUpdate')) return { schema: ArtifactUpdate, inner: item['artifactUpdate'] };
  const { kind } = item;
  if (kind === 'task') return { schema: asTask, inner: item };
  if (kind === 'message') return { schema: asMessage, inner: item };
  if (kind === 'status-update') return { schema: StatusUpdate, inner: item };
  if (kind === 'artifact-update') return { schema: ArtifactUpdate, inner: item };
  if (member('message')) return { schema: asMessage, inner: item['message'] };
  if (member('msg')) return { schema: asMessage, inner: item['msg'] };
  if (member('artifact')) return { schema: ArtifactUpdate, inner: item };
  if (member('status') && ('final' in item || !('id' in item))) return { schema: StatusUpdate, inner: item };
  return { schema: asTask, inner: item };
}

/** A page of tasks. `total`: how many there are on all, where that is said. */
export interface RemotePage {
  readonly tasks: readonly RemoteTask[];
  readonly nextPageToken: string;
  readonly total: number | undefined;
}

/** A task alone, as it is answered to who asks for one. */
export const AnyTask: z.ZodType<RemoteTask> = WiredTask;

export const AnyPage: z.ZodType<RemotePage> = z
  .object({
    tasks: optional(z.array(WiredTask)),
    nextPageToken: optional(z.string()),
    totalSize: optional(z.coerce.number()),
  })
  .transform(({ tasks, nextPageToken, totalSize }) => ({
    tasks: tasks ?? [],
    nextPageToken: nextPageToken ?? '',
    total: totalSize,
  }));

/** The JSON of the older REST, which holds the object of a data part once more in `data`, as the others have it. */
export function unwrapData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unwrapData);
  if (typeof value !== 'object' || value === null) return value;
  const { data, ...rest } = value as Record<string, unknown>;
  const fields = Object.entries(rest).map(([name, item]) => [
    name,
    name === 'metadata' ? item : unwrapData(item),
  ]);
  if (data === undefined) return Object.fromEntries(fields);
  const isHeld = typeof data === 'object' && data !== null && Object.keys(data).join() === 'data';
  return { ...Object.fromEntries(fields), data: isHeld ? (data as { data: unknown }).data : data };
}
