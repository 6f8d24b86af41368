import { z } from 'zod';
import type { RequestWriters } from '../dialect.ts';
import { HistoryLength, OldMessage, OldPush, readParams } from '../older-dialects.ts';
import { Metadata } from '../message-fields.ts';
import type { Operations, SendOrder } from '../operations.ts';
import { defined, optional } from '../parts.ts';
import type { RestRoute } from '../rest-routes.ts';
import { camelFields } from '../v1/requests.ts';
import { writeMessage } from './proto-results.ts';
import { orderOf, sendParams, writeRequest } from './requests.ts';

/**
 * What stands in the bodies of 0.3's REST: ProtoJSON of its a2a.proto, in which a message has `content` and parts have no
 * kind. The names of JSON-RPC are understood as well, and the proto's own, with underscores.
 */
const proto = <Schema extends z.ZodType>(schema: Schema) => z.preprocess(camelFields, schema);

const Message = proto(
  z.preprocess(
    (value) => {
      if (typeof value !== 'object' || value === null) return value;
      const { content, parts = content, ...message } = value as Record<string, unknown>;
      return { ...message, parts: Array.isArray(parts) ? parts.map(plainPart) : parts };
    },
    OldMessage.extend({ messageId: z.string().min(1) }),
  ),
);

/** The part as JSON-RPC has it, where a data part holds the data itself. */
function plainPart(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const part = value as Record<string, unknown>;
  if (part['kind'] !== undefined || part['type'] !== undefined) return part;
  const data = part['data'] as { readonly data?: unknown } | null | undefined;
  if (typeof data === 'object' && data !== null && 'data' in data)
    return { ...part, kind: 'data', data: data.data };
  return part['file'] === undefined ? part : { ...part, file: camelFields(part['file']) };
}

const Push = proto(OldPush);
/** In proto3 a number that is 0 is one that was not said. */
const Length = optional(HistoryLength).transform((length) => (length === 0 ? undefined : length));

const SendBody = proto(
  z
    .object({
      message: Message.optional(),
      request: Message.optional(),
      configuration: optional(
        proto(
          z.object({
            acceptedOutputModes: optional(z.array(z.string())),
            blocking: optional(z.boolean()),
            historyLength: Length,
            pushNotification: optional(Push),
            pushNotificationConfig: optional(Push),
          }),
        ),
      ),
      metadata: optional(Metadata),
    })
    .refine(({ message, request }) => (message === undefined) !== (request === undefined), {
      path: ['message'],
      message: 'expected a message',
    }),
);

/** `id`: the task's, of the path. */
const PushBody = proto(
  z.object({ id: z.string().min(1), pushNotificationConfig: Push, name: optional(z.string()) }),
);

export function readSendBody(body: unknown): SendOrder {
  const { message, request, configuration, metadata } = readParams(SendBody, body, 'message:send');
  const said = (message ?? request) as NonNullable<typeof message>;
  const { pushNotification, pushNotificationConfig = pushNotification, ...rest } = configuration ?? {};
  return orderOf({
    message: said,
    metadata,
    configuration:
      configuration === undefined ? undefined : { ...(rest as typeof configuration), pushNotificationConfig },
  });
}

/** The name of a config says its id, `tasks/{task}/pushNotificationConfigs/{id}`, as does the config itself. */
export function readPushBody(body: unknown): Operations['createPush']['in'] {
  const { id: taskId, name, pushNotificationConfig } = readParams(PushBody, body, 'pushNotificationConfigs');
  const named = name === undefined ? undefined : /\/pushNotificationConfigs\/(.+)$/.exec(name)?.[1];
  const id = pushNotificationConfig.id ?? named ?? taskId;
  const { id: _, ...config } = pushNotificationConfig;
  return { ...defined(config), url: config.url, taskId, id };
}

/** The client's side: writes the requests that are read above, for REST. Only messages differ from JSON-RPC. */
export const writeProtoRequest: RequestWriters = {
  ...writeRequest,
  send: (order) => sendParams(order, writeMessage),
  stream: (order) => sendParams(order, writeMessage),
};

const TASK = '/v1/tasks/{id}';
const CONFIGS = `${TASK}/pushNotificationConfigs`;
const CONFIG = `${CONFIGS}/{pushNotificationConfigId}`;

/** The paths of 0.3 over plain HTTP. */
export const V03_ROUTES: readonly RestRoute[] = [
  { method: 'POST', path: '/v1/message:send', operation: 'send' },
  { method: 'POST', path: '/v1/message:stream', operation: 'stream' },
  { method: 'POST', path: `${TASK}:cancel`, operation: 'cancel' },
  { method: 'GET', path: `${TASK}:subscribe`, operation: 'subscribe' },
  { method: 'POST', path: `${TASK}:subscribe`, operation: 'subscribe' },
  { method: 'GET', path: TASK, operation: 'get', query: { historyLength: 'number' } },
  { method: 'POST', path: CONFIGS, operation: 'createPush' },
  { method: 'GET', path: CONFIGS, operation: 'listPush' },
  { method: 'GET', path: CONFIG, operation: 'getPush' },
  { method: 'DELETE', path: CONFIG, operation: 'deletePush' },
  { method: 'GET', path: '/v1/card', operation: 'extendedCard' },
];
