import { z } from 'zod';
import { invalidPayload } from '../../../../runtime/protocol/errors.ts';
import { faultsOf } from '../../../../runtime/protocol/payload-faults.ts';
import type { TaskMessage, TaskState } from '../../../../runtime/protocol/task.ts';
import { type RequestWriters, type SendingOrder, TASK_REQUESTS } from '../dialect.ts';
import {
  STATE_NAMES,
  ROLE_NAMES,
  ROLES_BY_NUMBER,
  STATES_BY_NUMBER,
  AnyPart,
  defined,
  sentParts,
} from '../parts.ts';
import type { Json } from '../json.ts';
import type { ListOrder, Operations, PushConfig, SendOrder } from '../operations.ts';
import type { RestRoute } from '../rest-routes.ts';
import { writeMessage } from './results.ts';
import { FreshJsonFields } from '../../../../runtime/protocol/json-value.ts';

/**
 * An object of ProtoJSON: its fields in camelCase or as the proto file names them (`context_id`), null for a field that is
 * left out, and fields that nobody knows ignored.
 */
export const message = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess(camelFields, z.object(shape));

/** The object with its own fields in camelCase and without those that are null; `kept` may be null. */
export function camelFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    const known = camelCase(name);
    // Of a field that is there by both names the one in camelCase counts.
    if (known !== name && Object.hasOwn(value, known)) continue;
    // A data part may hold null: that is its value.
    if (field !== null || known === 'data') fields[known] = field;
  }
  return fields;
}

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_whole, letter: string) => letter.toUpperCase());

/** Text; in proto an empty one is one that is left out. */
const text = z
  .string()
  .optional()
  .transform((value) => (value === '' ? undefined : value));

/** A number without fraction, as a number or in text, as ProtoJSON writes long ones. */
const integer = z.union([z.int(), z.string().regex(/^-?\d{1,15}$/, 'expected an integer')]).transform(Number);

const count = integer.pipe(z.int().nonnegative());

/** A moment in RFC 3339, as Unix milliseconds. */
const moment = z.iso.datetime({ offset: true }).transform((iso) => Date.parse(iso));

/** Anything that JSON can say, by name. */
const struct = FreshJsonFields;

/** Names, an empty list being none. */
export const names = z.array(z.string()).default([]);

/** An enum's name or number; "unspecified" is read as undefined. */
const enumOf = <Value extends string>(
  names: Readonly<Record<Value, string>>,
  byNumber: readonly (Value | undefined)[],
  unspecified: string,
) =>
  z.union([z.string(), z.number()]).transform((said, context): Value | undefined => {
    if (said === unspecified || said === 0) return undefined;
    const found =
      typeof said === 'number'
        ? byNumber[said]
        : (Object.keys(names) as Value[]).find((value) => names[value] === said);
    if (found !== undefined) return found;
    context.addIssue({
      code: 'custom',
      message: `one of ${Object.values(names).join(', ')}`,
      input: said,
    });
    return z.NEVER;
  });

const state = enumOf<TaskState>(STATE_NAMES, STATES_BY_NUMBER, 'TASK_STATE_UNSPECIFIED');
const role = enumOf<TaskMessage['role']>(ROLE_NAMES, ROLES_BY_NUMBER, 'ROLE_UNSPECIFIED');

type Fields = { readonly [key: string]: Json };

const Part = z.preprocess(camelFields, AnyPart);

const id = z.string().min(1);

const Message = message({
  messageId: id,
  contextId: text,
  taskId: text,
  role: role.transform((said): TaskMessage['role'] => said ?? 'user'),
  parts: sentParts(Part),
  metadata: struct.optional(),
  extensions: names,
  referenceTaskIds: names,
});

const Authentication = message({ scheme: id, credentials: text });

const Push = {
  id: text,
  url: z.url({ protocol: /^https?$/ }),
  token: text,
  authentication: Authentication.optional(),
};

const SendRequest = message({
  message: Message,
  configuration: message({
    acceptedOutputModes: names,
    taskPushNotificationConfig: message(Push).optional(),
    historyLength: count.optional(),
    returnImmediately: z.boolean().optional(),
    ifGenerationMatch: count.optional(),
  }).optional(),
  metadata: struct.optional(),
});

const GetRequest = message({ id, historyLength: count.optional(), currentGeneration: count.optional() });

const PAGE_SIZE = 50;
const ListRequest = message({
  contextId: text,
  status: state.optional(),
  pageSize: count.pipe(z.int().min(1).max(100)).default(PAGE_SIZE),
  pageToken: text,
  historyLength: count.optional(),
  statusTimestampAfter: moment.optional(),
  includeArtifacts: z.boolean().optional(),
});

const IdRequest = message({ id });
const CreatePushRequest = message({ taskId: id, ...Push });
const PushRequest = message({ taskId: id, id });
const ListPushRequest = message({ taskId: id, pageSize: count.optional(), pageToken: text });

/** Parses a request. Throws INVALID_PAYLOAD naming every field at fault and its value. */
function parse<Schema extends z.ZodType>(method: string, schema: Schema, params: unknown): z.output<Schema> {
  const parsed = schema.safeParse(params, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw invalidPayload(method, faultsOf(parsed.error, params));
}

export function readSend(params: unknown): SendOrder {
  const { message: said, configuration, metadata } = parse('SendMessage', SendRequest, params);
  const push = configuration?.taskPushNotificationConfig;
  return {
    message: messageOf(said),
    ...defined({ taskId: said.taskId, contextId: said.contextId, metadata }),
    takesMessages: true,
    returnImmediately: configuration?.returnImmediately ?? false,
    ...defined({
      historyLength: configuration?.historyLength,
      ifGeneration: configuration?.ifGenerationMatch,
    }),
    acceptedOutputModes: configuration?.acceptedOutputModes ?? [],
    ...(push === undefined ? {} : { push: { ...defined({ id: push.id }), ...addressOf(push) } }),
  };
}

function messageOf({
  messageId,
  role: who,
  parts,
  metadata,
  ...lists
}: z.output<typeof Message>): TaskMessage {
  const { extensions, referenceTaskIds } = lists;
  return {
    messageId,
    role: who,
    parts,
    ...defined({ metadata }),
    ...(extensions.length === 0 ? {} : { extensions }),
    ...(referenceTaskIds.length === 0 ? {} : { referenceTaskIds }),
  };
}

function addressOf({
  url,
  token,
  authentication,
}: Pick<z.output<typeof CreatePushRequest>, 'url' | 'token' | 'authentication'>): Omit<
  PushConfig,
  'id' | 'taskId'
> {
  if (authentication === undefined) return { url, ...defined({ token }) };
  const { scheme, credentials } = authentication;
  return { url, ...defined({ token }), authentication: { scheme, ...defined({ credentials }) } };
}

export function readGet(params: unknown): Operations['get']['in'] {
  const { id: taskId, historyLength, currentGeneration } = parse('GetTask', GetRequest, params);
  return { taskId, ...defined({ historyLength, after: currentGeneration }) };
}

export function readList(params: unknown): ListOrder {
  const said = parse('ListTasks', ListRequest, params);
  const { contextId, status, pageSize, pageToken = '', historyLength, includeArtifacts = false } = said;
  return {
    ...defined({ contextId, state: status, sinceMs: said.statusTimestampAfter, historyLength }),
    pageSize,
    pageToken,
    artifacts: includeArtifacts,
  };
}

export const readCancel = (params: unknown): Operations['cancel']['in'] => ({
  taskId: parse('CancelTask', IdRequest, params).id,
});

export const readSubscribe = (params: unknown): Operations['subscribe']['in'] => ({
  taskId: parse('SubscribeToTask', IdRequest, params).id,
});

export function readCreatePush(params: unknown): Operations['createPush']['in'] {
  const said = parse('CreateTaskPushNotificationConfig', CreatePushRequest, params);
  return { taskId: said.taskId, ...defined({ id: said.id }), ...addressOf(said) };
}

export const readPush = (params: unknown): Operations['getPush']['in'] =>
  parse('GetTaskPushNotificationConfig', PushRequest, params);

export const readDeletePush = (params: unknown): Operations['deletePush']['in'] =>
  parse('DeleteTaskPushNotificationConfig', PushRequest, params);

export function readListPush(params: unknown): Operations['listPush']['in'] {
  const { taskId, pageSize, pageToken } = parse('ListTaskPushNotificationConfigs', ListPushRequest, params);
  // 0 is what proto says for a size that is left out.
  return { taskId, ...defined({ pageSize: pageSize === 0 ? undefined : pageSize, pageToken }) };
}

/** The client's side: writes the requests that are read above, in ProtoJSON. */
export const writeRequest: RequestWriters = {
  ...TASK_REQUESTS,
  send: writeSend,
  stream: writeSend,
  list: ({ contextId, state: wanted, pageSize, pageToken, historyLength, artifacts }) => ({
    pageSize,
    ...defined({
      contextId,
      status: wanted === undefined ? undefined : STATE_NAMES[wanted],
      pageToken,
      historyLength,
      includeArtifacts: artifacts,
    }),
  }),
};

function writeSend({ message: said, taskId, contextId, metadata, ...order }: SendingOrder): Fields {
  const { returnImmediately, historyLength, acceptedOutputModes } = order;
  return {
    message: writeMessage(said, defined({ taskId, contextId })),
    configuration: {
      ...(acceptedOutputModes.length === 0 ? {} : { acceptedOutputModes: [...acceptedOutputModes] }),
      ...(returnImmediately ? { returnImmediately } : {}),
      ...defined({ historyLength }),
    },
    ...defined({ metadata }),
  };
}

const LIST_QUERY = {
  contextId: 'text',
  status: 'text',
  pageSize: 'number',
  pageToken: 'text',
  historyLength: 'number',
  statusTimestampAfter: 'text',
  includeArtifacts: 'boolean',
} as const;

/** The paths of 1.x over plain HTTP. */
export const V1_ROUTES: readonly RestRoute[] = [
  { method: 'POST', path: '/message:send', operation: 'send' },
  { method: 'POST', path: '/message:stream', operation: 'stream' },
  { method: 'GET', path: '/tasks', operation: 'list', query: LIST_QUERY },
  { method: 'GET', path: '/tasks/{id}:subscribe', operation: 'subscribe' },
  { method: 'POST', path: '/tasks/{id}:subscribe', operation: 'subscribe' },
  { method: 'POST', path: '/tasks/{id}:cancel', operation: 'cancel' },
  {
    method: 'GET',
    path: '/tasks/{id}',
    operation: 'get',
    query: { historyLength: 'number', currentGeneration: 'number' },
  },
  { method: 'POST', path: '/tasks/{taskId}/pushNotificationConfigs', operation: 'createPush' },
  {
    method: 'GET',
    path: '/tasks/{taskId}/pushNotificationConfigs',
    operation: 'listPush',
    query: { pageSize: 'number', pageToken: 'text' },
  },
  { method: 'GET', path: '/tasks/{taskId}/pushNotificationConfigs/{id}', operation: 'getPush' },
  { method: 'DELETE', path: '/tasks/{taskId}/pushNotificationConfigs/{id}', operation: 'deletePush' },
  { method: 'GET', path: '/extendedAgentCard', operation: 'extendedCard' },
];
