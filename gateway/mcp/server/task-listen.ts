import type { Principal } from '../../../runtime/protocol/principal.ts';
import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import { CAPABILITY, clientCan } from './mcp-call.ts';
import { invalidParams, missingCapability } from './mcp-errors.ts';
import type { McpService } from './mcp-service.ts';

export const LISTEN = 'subscriptions/listen';
export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const CHANGED = 'notifications/tasks';
const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';

type Message = Readonly<Record<string, unknown>>;

/**
 * Of one `subscriptions/listen`: what it has to hear of tasks, as the tasks extension of 2026-07-28 has it.
 *
 * - `others`  the same request without that, for whoever serves the rest of it.
 * - `isAlone` there is something to be told of tasks, and it asks for nothing else.
 */
export interface TaskListening {
  readonly others: Message;
  readonly isAlone: boolean;
  /** The acknowledgement, with the tasks that are told of. */
  acknowledge(message: Message): Message;
  /** Tells first how they stand, and then whenever that changes, until the returned function is called. */
  begin(tell: (notification: Result) => void): () => void;
}

/** Undefined for what does not ask for tasks. Throws for what is no list of them, or whose client can have none. */
export function taskListening(
  message: unknown,
  service: McpService,
  principal: Principal,
): TaskListening | undefined {
  if (!isObject(message) || message['method'] !== LISTEN || !isObject(message['params'])) return undefined;
  const { id, params } = message;
  const { notifications, _meta } = params as Message;
  if (!isObject(notifications) || notifications['taskIds'] === undefined) return undefined;
  const { taskIds, ...rest } = notifications;
  if (!Array.isArray(taskIds) || taskIds.some((one) => typeof one !== 'string'))
    throw invalidParams('notifications.taskIds: expected ids of tasks');
  if (!clientCan(isObject(_meta) ? _meta[CAPABILITIES_KEY] : undefined)('tasks'))
    throw missingCapability('Hearing of tasks', CAPABILITY.tasks);
  const others = { ...message, params: { ...(params as Message), notifications: rest } };
  const told = service.taskIdsOf(taskIds as string[], principal);
  const isMore = Object.values(rest).some(
    (wanted) => wanted === true || (Array.isArray(wanted) && wanted.length > 0),
  );
  const isAlone = told.length > 0 && !isMore;
  return {
    others,
    isAlone,
    acknowledge: (acknowledgement) => withTaskIds(acknowledgement, told),
    begin: (tell) =>
      service.watchTasks(told, principal, (task) =>
        tell({
          jsonrpc: '2.0',
          method: CHANGED,
          params: { ...task, _meta: { [SUBSCRIPTION_KEY]: id } },
        }),
      ),
  };
}

function withTaskIds(message: Message, taskIds: readonly string[]): Message {
  if (taskIds.length === 0 || !isObject(message['params'])) return message;
  const { params } = message;
  const notifications = isObject(params['notifications']) ? params['notifications'] : {};
  return { ...message, params: { ...params, notifications: { ...notifications, taskIds } } };
}

/** Of which subscription a message is. */
export function subscriptionOf(message: Message): unknown {
  const params = isObject(message['params']) ? message['params'] : {};
  return isObject(params['_meta']) ? params['_meta'][SUBSCRIPTION_KEY] : undefined;
}
