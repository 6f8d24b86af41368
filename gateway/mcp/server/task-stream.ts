import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import { ACKNOWLEDGED, type TaskListening } from './task-listen.ts';

type Message = Readonly<Record<string, unknown>>;

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
