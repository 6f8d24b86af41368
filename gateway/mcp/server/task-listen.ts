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
function subscriptionOf(message: Message): unknown {
  const params = isObject(message['params']) ? message['params'] : {};
  return isObject(params['_meta']) ? params['_meta'][SUBSCRIPTION_KEY] : undefined;
}

/** Asked for in the place of nothing, of which there would be no stream. */
const STAND_IN = 'toolsListChanged';
const STAND_IN_METHOD = 'notifications/tools/list_changed';

/** The request as the rest of it is served, so that its stream stays open. */
export function standIn({ others, isAlone }: TaskListening): Message {
  if (!isAlone) return others;
  const params = others['params'] as Message;
  return { ...others, params: { ...params, notifications: { [STAND_IN]: true } } };
}

/**
 * The stream of changes, with what there is to be told of tasks in it. `response` has one event in each chunk, as the package
 * writes them.
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
      // It is asked once for what comes next, and what is not shown is not that.
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

/** Undefined for a sign of life. */
function messageIn(chunk: Uint8Array): Message | undefined {
  const data = DATA.exec(UTF8.decode(chunk))?.[1];
  if (data === undefined) return undefined;
  const message: unknown = JSON.parse(data);
  return isObject(message) ? message : undefined;
}

/** `send`: to the client, past everything here. */
interface StdioListensDeps {
  readonly service: McpService;
  readonly principal: Principal;
  readonly send: (message: JSONRPCMessage) => void;
}

/** What a client over a pair of streams wants to hear of its tasks, by what it says and is told. */
export class StdioListens {
  readonly #deps: StdioListensDeps;
  /** By the id of the request; those that have begun can be stopped. */
  readonly #open = new Map<unknown, { readonly listening: TaskListening; stop?: () => void }>();

  constructor(deps: StdioListensDeps) {
    this.#deps = deps;
  }

  /** What is to be served of what the client has said; undefined when it has its answer. */
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

  /** What the client is told: of a subscription, with its tasks. `sent` is to be called when that is on its way. */
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
