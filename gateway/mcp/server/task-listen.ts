import type { Principal } from '../../../runtime/protocol/principal.ts';
import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import { CAPABILITY, clientCan } from './mcp-call.ts';
import { invalidParams, missingCapability, mcpErrorOf } from './mcp-errors.ts';
import type { McpService } from './mcp-service.ts';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';

export const LISTEN = 'subscriptions/listen';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const CHANGED = 'notifications/tasks';
const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';

type Message = Readonly<Record<string, unknown>>;

/**
 * The tasks that one `subscriptions/listen` subscribes to, by the tasks extension of 2026-07-28.
 *
 * - `others`      the same request without the tasks, which the SDK serves.
 * - `isAlone`     the request subscribes to tasks, and to nothing else.
 * - `acknowledge` adds the ids of the tasks to the acknowledgement.
 * - `begin`       sends the status of each task, and each change of it, until the returned function is called.
 */
export interface TaskListening {
  readonly others: Message;
  readonly isAlone: boolean;
  acknowledge(message: Message): Message;
  begin(tell: (notification: Result) => void): () => void;
}

/**
 * Reads the tasks that a message subscribes to; undefined if there are none. Throws INVALID_PARAMS for an invalid list, and
 * -32021 if the client has not declared tasks.
 */
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

/** The id of the subscription that a message belongs to. */
function subscriptionOf(message: Message): unknown {
  const params = isObject(message['params']) ? message['params'] : {};
  return isObject(params['_meta']) ? params['_meta'][SUBSCRIPTION_KEY] : undefined;
}

/** The subscription that is made in place of none: without one the SDK opens no stream. */
const STAND_IN = 'toolsListChanged';
const STAND_IN_METHOD = 'notifications/tools/list_changed';

/** The request for the SDK, with a subscription that keeps its stream open. */
export function standIn({ others, isAlone }: TaskListening): Message {
  if (!isAlone) return others;
  const params = others['params'] as Message;
  return { ...others, params: { ...params, notifications: { [STAND_IN]: true } } };
}

/**
 * Adds the notifications of tasks to a stream of changes. `response` must have one event in each chunk, as the SDK writes it.
 */
export function taskStream(response: Response, listening: TaskListening): Response {
  const { body } = response;
  if (body === null || response.headers.get('content-type')?.startsWith('text/event-stream') !== true)
    return response;
  const reader = body.getReader();
  const encoder = new TextEncoder();
  let stop = (): void => undefined;
  const readable = new ReadableStream<Uint8Array>({
    async pull(controller) {
      // `pull` has to enqueue something, so events that are not shown are skipped here.
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          stop();
          return controller.close();
        }
        const message = messageIn(value);
        if (message === undefined) return controller.enqueue(value);
        const shown = shownOf(message, listening);
        if (shown === undefined) continue;
        controller.enqueue(encoder.encode(eventOf(shown)));
        if (message['method'] === ACKNOWLEDGED)
          stop = listening.begin((told) => controller.enqueue(encoder.encode(eventOf(told))));
        return;
      }
    },
    async cancel(reason) {
      stop();
      await reader.cancel(reason);
    },
  });
  return new Response(readable, response);
}

function shownOf(message: Message, listening: TaskListening): Message | undefined {
  if (!listening.isAlone)
    return message['method'] === ACKNOWLEDGED ? listening.acknowledge(message) : message;
  if (message['method'] === STAND_IN_METHOD) return undefined;
  if (message['method'] !== ACKNOWLEDGED) return message;
  const params = message['params'] as Message;
  return listening.acknowledge({ ...message, params: { ...params, notifications: {} } });
}

const eventOf = (message: Message | Result): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

const DATA = /^data: (.*)$/m;
const UTF8 = new TextDecoder();

/** The message in an event; undefined for a keep-alive. */
function messageIn(chunk: Uint8Array): Message | undefined {
  const data = DATA.exec(UTF8.decode(chunk))?.[1];
  if (data === undefined) return undefined;
  const message: unknown = JSON.parse(data);
  return isObject(message) ? message : undefined;
}

/** `send` writes to the client, past the filter. */
interface StdioListensDeps {
  readonly service: McpService;
  readonly principal: Principal;
  readonly send: (message: JSONRPCMessage) => void;
}

/** The filter of a stdio connection that serves subscriptions to tasks. */
export class StdioListens {
  readonly #deps: StdioListensDeps;
  /** Subscriptions by the id of their request. `stop` is set once they are acknowledged. */
  readonly #open = new Map<unknown, { readonly listening: TaskListening; stop?: () => void }>();

  constructor(deps: StdioListensDeps) {
    this.#deps = deps;
  }

  /** Takes the tasks out of a `subscriptions/listen`. Undefined if the message was invalid, and is answered. */
  arriving(message: JSONRPCMessage): JSONRPCMessage | undefined {
    const said = message as Message;
    if (said['method'] === 'notifications/cancelled') this.#end((said['params'] as Message)?.['requestId']);
    const { service, principal, send } = this.#deps;
    try {
      const listening = service.hasTasks ? taskListening(message, service, principal) : undefined;
      if (listening === undefined) return message;
      this.#end(said['id']);
      this.#open.set(said['id'], { listening });
      return listening.others as JSONRPCMessage;
    } catch (error) {
      const { code, message: sentence, data } = mcpErrorOf(error);
      const told = { code, message: sentence, ...(data === undefined ? {} : { data }) };
      send({ jsonrpc: '2.0', id: said['id'], error: told } as JSONRPCMessage);
      return undefined;
    }
  }

  /** Adds the tasks to an acknowledgement. Their notifications begin when `sent` is called. */
  leaving(message: JSONRPCMessage): { readonly message: JSONRPCMessage; readonly sent?: () => void } {
    const told = message as Message;
    if (told['method'] !== ACKNOWLEDGED) {
      if (told['method'] === undefined) this.#end(told['id']);
      return { message };
    }
    const open = this.#open.get(subscriptionOf(told));
    if (open === undefined) return { message };
    const { listening } = open;
    return {
      message: listening.acknowledge(told) as JSONRPCMessage,
      sent: () => {
        open.stop = listening.begin((news) => this.#deps.send(news as JSONRPCMessage));
      },
    };
  }

  close(): void {
    for (const id of [...this.#open.keys()]) this.#end(id);
  }

  #end(id: unknown): void {
    this.#open.get(id)?.stop?.();
    this.#open.delete(id);
  }
}
