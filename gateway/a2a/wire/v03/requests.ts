import { z } from 'zod';
import { HistoryLength, OldMessage, OldPush, readParams } from '../older-dialects.ts';
import { messageOf, Metadata } from '../message-fields.ts';
import { type RequestWriters, type SendingOrder, TASK_REQUESTS } from '../dialect.ts';
import type { Json } from '../json.ts';
import type { Operations, SendOrder } from '../operations.ts';
import { defined, optional } from '../parts.ts';
import { writeMessage } from './results.ts';

type JsonObject = { readonly [key: string]: Json };

const Id = z.string().min(1);

/** `params` of message/send and message/stream. */
const SendParams = z.object({
  message: OldMessage.extend({ messageId: Id }),
  configuration: optional(
    z.object({
      acceptedOutputModes: optional(z.array(z.string())),
      blocking: optional(z.boolean()),
      historyLength: optional(HistoryLength),
      pushNotificationConfig: optional(OldPush),
    }),
  ),
  metadata: optional(Metadata),
});

export type SendParams = z.output<typeof SendParams>;

/** What a message of 0.3 orders: its caller waits for what comes of it only when it says so. */
export function orderOf({ message, configuration, metadata }: SendParams): SendOrder {
  const { taskId, contextId, messageId } = message;
  return {
    message: messageOf(message, () => messageId),
    takesMessages: true,
    returnImmediately: configuration?.blocking !== true,
    acceptedOutputModes: configuration?.acceptedOutputModes ?? [],
    ...defined({ taskId, contextId, metadata }),
    ...defined({ historyLength: configuration?.historyLength, push: configuration?.pushNotificationConfig }),
  };
}

const TaskParams = z.object({ id: Id, historyLength: optional(HistoryLength) });
const PushParams = z.object({ taskId: Id, pushNotificationConfig: OldPush });
const PushIdParams = z.object({ id: Id, pushNotificationConfigId: optional(Id) });

export function readSend(params: unknown): SendOrder {
  return orderOf(readParams(SendParams, params, 'message/send'));
}

export function readTask(params: unknown, method = 'tasks/get'): Operations['get']['in'] {
  const { id, historyLength } = readParams(TaskParams, params, method);
  return { taskId: id, ...defined({ historyLength }) };
}

export function readTaskId(params: unknown): { readonly taskId: string } {
  return { taskId: readTask(params, 'tasks/cancel').taskId };
}

/** A task has one address of its own for news, by the task's id, beside those that have ids of theirs. */
export function readPush(params: unknown): Operations['createPush']['in'] {
  const { taskId, pushNotificationConfig } = readParams(
    PushParams,
    params,
    'tasks/pushNotificationConfig/set',
  );
  return { id: taskId, ...pushNotificationConfig, taskId };
}

export function readPushId(params: unknown): Operations['getPush']['in'] {
  const { id, pushNotificationConfigId } = readParams(
    PushIdParams,
    params,
    'tasks/pushNotificationConfig/get',
  );
  return { taskId: id, id: pushNotificationConfigId ?? id };
}

export function readPushList(params: unknown): Operations['listPush']['in'] {
  return { taskId: readTask(params, 'tasks/pushNotificationConfig/list').taskId };
}

/** The client's side: writes the requests that are read above, for JSON-RPC. */
export const writeRequest: RequestWriters = {
  ...TASK_REQUESTS,
  send: writeSend,
  stream: writeSend,
};

function writeSend(order: SendingOrder): JsonObject {
  return sendParams(order, writeMessage);
}

/** A message with what it orders, the message as JSON-RPC or the proto has it. */
export function sendParams(
  { message, taskId, contextId, metadata, ...order }: SendingOrder,
  write: typeof writeMessage,
): JsonObject {
  const { returnImmediately, historyLength, acceptedOutputModes } = order;
  return {
    message: write(message, defined({ taskId, contextId })),
    configuration: {
      blocking: !returnImmediately,
      ...(acceptedOutputModes.length === 0 ? {} : { acceptedOutputModes: [...acceptedOutputModes] }),
      ...defined({ historyLength }),
    },
    ...defined({ metadata }),
  };
}
