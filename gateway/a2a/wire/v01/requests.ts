import { z } from 'zod';
import { HistoryLength, OldMessage, OldPush, readParams } from '../older-dialects.ts';
import { messageOf, Metadata } from '../message-fields.ts';
import { type RequestWriters, type SendingOrder, TASK_REQUESTS } from '../dialect.ts';
import type { Json } from '../json.ts';
import type { Operations, SendOrder } from '../operations.ts';
import { defined, optional } from '../parts.ts';
import { writeMessage } from './results.ts';

/** Callers choose the ids of their tasks; these stand in paths and headers later. */
const TaskId = z.string().min(1).max(256);

/**
 * `params` of tasks/send and tasks/sendSubscribe. `id` is its caller's choice, and opens a task when there is none by it;
 * `taskId`, that of a path, is of one that there is.
 */
const SendParams = z.object({
  id: optional(TaskId),
  taskId: optional(TaskId),
  sessionId: optional(z.string().min(1)),
  message: OldMessage,
  acceptedOutputModes: optional(z.array(z.string())),
  pushNotification: optional(OldPush),
  historyLength: optional(HistoryLength),
  metadata: optional(Metadata),
});

const TaskParams = z.object({ id: TaskId, historyLength: optional(HistoryLength) });
const PushParams = z.object({ id: TaskId, pushNotificationConfig: OldPush });

/**
 * - `newId`  for messages, which have no ids in 0.1.
 * - `waitMs` how long an answer waits for the task at most.
 */
export interface V01ReadDeps {
  readonly newId: () => string;
  readonly waitMs: number;
}

export function readSend(params: unknown, { newId, waitMs }: V01ReadDeps): SendOrder {
  const said = readParams(SendParams, params, 'tasks/send');
  const { message, metadata, acceptedOutputModes = [], pushNotification, historyLength = 0 } = said;
  const taskId = said.taskId ?? said.id ?? message.taskId;
  return {
    message: messageOf(message, newId),
    opensTask: said.taskId === undefined && said.id !== undefined,
    returnImmediately: false,
    waitMs,
    historyLength,
    acceptedOutputModes,
    ...defined({ taskId, contextId: said.sessionId ?? message.contextId, metadata }),
    ...(pushNotification === undefined ? {} : { push: { ...pushNotification, ...defined({ id: taskId }) } }),
  };
}

/** A conversation is shown to who asks for it. */
export function readTask(params: unknown): Operations['get']['in'] {
  const { id, historyLength = 0 } = readParams(TaskParams, params, 'tasks/get');
  return { taskId: id, historyLength };
}

export function readTaskId(params: unknown): { readonly taskId: string } {
  return { taskId: readParams(TaskParams, params, 'tasks/cancel').id };
}

/** A task has one address for news, by the task's own id. */
export function readPush(params: unknown): Operations['createPush']['in'] {
  const { id, pushNotificationConfig } = readParams(PushParams, params, 'tasks/pushNotification/set');
  return { ...pushNotificationConfig, taskId: id, id };
}

export function readPushId(params: unknown): Operations['getPush']['in'] {
  const { id } = readParams(TaskParams, params, 'tasks/pushNotification/get');
  return { taskId: id, id };
}

/** The client's side: writes the requests that are read above. */
export const writeRequest: RequestWriters = {
  ...TASK_REQUESTS,
  send: writeSend,
  stream: writeSend,
};

/** A new task is called as its first message: so it is one task, however often that is sent. */
function writeSend({ message, taskId, contextId, historyLength, metadata }: SendingOrder): {
  readonly [key: string]: Json;
} {
  return {
    id: taskId ?? message.messageId,
    message: writeMessage(message),
    ...defined({ sessionId: contextId, historyLength, metadata }),
  };
}
