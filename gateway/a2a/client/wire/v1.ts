import { ROLE_WORDS, STATE_WORDS } from '../../wire/enum-words.ts';
import type { Json } from '../../wire/json.ts';
import { V1_METHODS } from '../../wire/method-names.ts';
import { defined } from '../../wire/parts.ts';
import { type ClientDialect, type ListingOrder, query, type SendingOrder, taskPath } from './dialect.ts';
import { A2A_JSON } from '../../wire/headers.ts';

type Fields = { readonly [key: string]: Json };

/** As of A2A 1.0: ProtoJSON. */
export const V1: ClientDialect = {
  name: '1.0',
  version: '1.0',
  rpc: {
    send: (order) => ({ method: V1_METHODS.send, params: sendParams(order) }),
    stream: (order) => ({ method: V1_METHODS.stream, params: sendParams(order) }),
    get: ({ taskId, historyLength }) => ({
      method: V1_METHODS.get,
      params: { id: taskId, ...defined({ historyLength }) },
    }),
    list: (order) => ({ method: V1_METHODS.list, params: listParams(order) }),
    cancel: ({ taskId }) => ({ method: V1_METHODS.cancel, params: { id: taskId } }),
    subscribe: ({ taskId }) => ({ method: V1_METHODS.subscribe, params: { id: taskId } }),
  },
  rest: {
    send: (order) => ({ method: 'POST', path: '/message:send', body: sendParams(order) }),
    stream: (order) => ({ method: 'POST', path: '/message:stream', body: sendParams(order) }),
    get: ({ taskId, historyLength }) => ({
      method: 'GET',
      path: `${taskPath(taskId)}${query({ historyLength })}`,
    }),
    list: (order) => ({ method: 'GET', path: `/tasks${query(listParams(order))}` }),
    cancel: ({ taskId }) => ({ method: 'POST', path: `${taskPath(taskId)}:cancel`, body: {} }),
    subscribe: ({ taskId }) => ({ method: 'GET', path: `${taskPath(taskId)}:subscribe` }),
  },
  restMediaType: A2A_JSON,
  unwrap: (value) => value,
};

function sendParams(order: SendingOrder): Fields {
  const { returnImmediately, historyLength, acceptedOutputModes, metadata } = order;
  return {
    message: writeMessage(order),
    configuration: {
      ...(acceptedOutputModes.length === 0 ? {} : { acceptedOutputModes: [...acceptedOutputModes] }),
      ...(returnImmediately ? { returnImmediately } : {}),
      ...defined({ historyLength }),
    },
    ...defined({ metadata }),
  };
}

function writeMessage({ message, taskId, contextId }: SendingOrder): Fields {
  const { role, parts, messageId, metadata, extensions, referenceTaskIds } = message;
  return {
    messageId,
    role: ROLE_WORDS[role],
    parts: parts as readonly Fields[],
    ...defined({ taskId, contextId, metadata, extensions, referenceTaskIds }),
  };
}

function listParams({ contextId, state, pageSize, pageToken, historyLength, artifacts }: ListingOrder) {
  const status = state === undefined ? undefined : STATE_WORDS[state];
  return {
    pageSize,
    ...defined({ contextId, status, pageToken, historyLength, includeArtifacts: artifacts }),
  };
}
