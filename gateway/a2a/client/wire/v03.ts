import type { Part } from '../../../../runtime/protocol/task.ts';
import { ROLE_WORDS } from '../../wire/enum-words.ts';
import type { Json } from '../../wire/json.ts';
import { V03_METHODS } from '../../wire/method-names.ts';
import { defined, objectOf, writeTagged } from '../../wire/parts.ts';
import { type ClientDialect, query, type SendingOrder, taskPath } from './dialect.ts';
import { unwrapData } from './read-json.ts';

type Fields = { readonly [key: string]: Json };

/** As of A2A 0.2 and 0.3: tagged JSON over JSON-RPC, and the JSON of its protobuf over REST. */
export const V03: ClientDialect = {
  name: '0.3',
  version: '0.3',
  rpc: {
    send: (order) => ({ method: V03_METHODS.send, params: sendParams(order) }),
    stream: (order) => ({ method: V03_METHODS.stream, params: sendParams(order) }),
    get: ({ taskId, historyLength }) => ({
      method: V03_METHODS.get,
      params: { id: taskId, ...defined({ historyLength }) },
    }),
    cancel: ({ taskId }) => ({ method: V03_METHODS.cancel, params: { id: taskId } }),
    subscribe: ({ taskId }) => ({ method: V03_METHODS.subscribe, params: { id: taskId } }),
  },
  rest: {
    send: (order) => ({ method: 'POST', path: '/v1/message:send', body: restParams(order) }),
    stream: (order) => ({ method: 'POST', path: '/v1/message:stream', body: restParams(order) }),
    get: ({ taskId, historyLength }) => ({
      method: 'GET',
      path: `/v1${taskPath(taskId)}${query({ historyLength })}`,
    }),
    cancel: ({ taskId }) => ({ method: 'POST', path: `/v1${taskPath(taskId)}:cancel` }),
    subscribe: ({ taskId }) => ({ method: 'GET', path: `/v1${taskPath(taskId)}:subscribe` }),
  },
  restMediaType: 'application/json',
  unwrap: unwrapData,
};

function sendParams({ message, taskId, contextId, metadata, ...order }: SendingOrder): Fields {
  const { role, parts, messageId, extensions, referenceTaskIds } = message;
  return {
    message: {
      kind: 'message',
      messageId,
      role,
      parts: parts.map((part) => writeTagged(part, 'kind')),
      ...defined({ taskId, contextId, metadata: message.metadata, extensions, referenceTaskIds }),
    },
    configuration: configurationOf(order),
    ...defined({ metadata }),
  };
}

function configurationOf(
  order: Pick<SendingOrder, 'returnImmediately' | 'historyLength' | 'acceptedOutputModes'>,
): Fields {
  const { returnImmediately, historyLength, acceptedOutputModes } = order;
  return {
    blocking: !returnImmediately,
    ...(acceptedOutputModes.length === 0 ? {} : { acceptedOutputModes: [...acceptedOutputModes] }),
    ...defined({ historyLength }),
  };
}

function restParams({ message, taskId, contextId, metadata, ...order }: SendingOrder): Fields {
  const { role, parts, messageId, extensions } = message;
  return {
    message: {
      messageId,
      role: ROLE_WORDS[role],
      content: parts.map(restPart),
      ...defined({ taskId, contextId, metadata: message.metadata, extensions }),
    },
    configuration: configurationOf(order),
    ...defined({ metadata }),
  };
}

function restPart(part: Part): Json {
  if ('text' in part) return { text: part.text };
  if ('data' in part) return { data: { data: objectOf(part).data } };
  const mimeType = defined({ mimeType: part.mediaType });
  return {
    file: 'raw' in part ? { fileWithBytes: part.raw, ...mimeType } : { fileWithUri: part.url, ...mimeType },
  };
}
