import type { Json } from '../../gateway/a2a/dialect.ts';
import { defined, writeTagged } from '../../gateway/a2a/parts.ts';
import type { ClientDialect, SendingOrder } from './dialect.ts';

type Fields = { readonly [key: string]: Json };

/** As before A2A 0.2: the client names the task, and there is nothing but JSON-RPC. */
export const V01: ClientDialect = {
  name: '0.1',
  version: undefined,
  rpc: {
    send: (order) => ({ method: 'tasks/send', params: sendParams(order) }),
    stream: (order) => ({ method: 'tasks/sendSubscribe', params: sendParams(order) }),
    get: ({ taskId, historyLength }) => ({
      method: 'tasks/get',
      params: { id: taskId, ...defined({ historyLength }) },
    }),
    cancel: ({ taskId }) => ({ method: 'tasks/cancel', params: { id: taskId } }),
    subscribe: ({ taskId }) => ({ method: 'tasks/resubscribe', params: { id: taskId } }),
  },
  rest: {},
  restMediaType: 'application/json',
  unwrap: (value) => value,
};

/** A new task is called as its first message: so it is one task, however often that is sent. */
function sendParams({ message, taskId, contextId, historyLength, metadata }: SendingOrder): Fields {
  const { role, parts, messageId } = message;
  return {
    id: taskId ?? messageId,
    message: {
      role,
      parts: parts.map((part) => writeTagged(part, 'type')),
      ...defined({ metadata: message.metadata }),
    },
    ...defined({ sessionId: contextId, historyLength, metadata }),
  };
}
