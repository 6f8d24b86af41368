import type { TaskMessage, TaskState } from '../../../runtime/protocol/task.ts';
import type { Json } from '../../gateway/a2a/dialect.ts';
import { defined } from '../../gateway/a2a/parts.ts';
import { type ClientDialect, type ListingOrder, query, type SendingOrder, taskPath } from './dialect.ts';

type Fields = { readonly [key: string]: Json };

/** As of A2A 1.0: ProtoJSON. */
export const V1: ClientDialect = {
  name: '1.0',
  version: '1.0',
  rpc: {
    send: (order) => ({ method: 'SendMessage', params: sendParams(order) }),
    stream: (order) => ({ method: 'SendStreamingMessage', params: sendParams(order) }),
    get: ({ taskId, historyLength }) => ({
      method: 'GetTask',
      params: { id: taskId, ...defined({ historyLength }) },
    }),
    list: (order) => ({ method: 'ListTasks', params: listParams(order) }),
    cancel: ({ taskId }) => ({ method: 'CancelTask', params: { id: taskId } }),
    subscribe: ({ taskId }) => ({ method: 'SubscribeToTask', params: { id: taskId } }),
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
  restMediaType: 'application/a2a+json',
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
    role: roleName(role),
    parts: parts as readonly Fields[],
    ...defined({ taskId, contextId, metadata, extensions, referenceTaskIds }),
  };
}

const roleName = (role: TaskMessage['role']): string => (role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT');

const stateName = (state: TaskState): string => `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}`;

function listParams({ contextId, state, pageSize, pageToken, historyLength, artifacts }: ListingOrder) {
  const status = state === undefined ? undefined : stateName(state);
  return {
    pageSize,
    ...defined({ contextId, status, pageToken, historyLength, includeArtifacts: artifacts }),
  };
}
