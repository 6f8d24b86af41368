import type { Json } from '../../wire/json.ts';
import { V01_METHODS } from '../../wire/method-names.ts';
import { defined, writeTagged } from '../../wire/parts.ts';
import type { ClientDialect, SendingOrder } from './dialect.ts';

type Fields = { readonly [key: string]: Json };

/** As before A2A 0.2: the client names the task, and there is nothing but JSON-RPC. */
export const V01: ClientDialect = {
  name: '0.1',
  version: undefined,
  rpc: {
    send: (order) => ({ method: V01_METHODS.send, params: sendParams(order) }),
    stream: (order) => ({ method: V01_METHODS.stream, params: sendParams(order) }),
    get: ({ taskId, historyLength }) => ({
      method: V01_METHODS.get,
      params: { id: taskId, ...defined({ historyLength }) },
    }),
    cancel: ({ taskId }) => ({ method: V01_METHODS.cancel, params: { id: taskId } }),
    subscribe: ({ taskId }) => ({ method: V01_METHODS.subscribe, params: { id: taskId } }),
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
