import type { Json } from '../wire/json.ts';
import type { Answer, HeaderFields } from '../../http/answer.ts';
import { SseStream, type SseStreamOptions } from './sse-stream.ts';

/** One event of a stream. `id`: what a client that comes back says it has seen last. */
export interface SseEvent {
  readonly id?: number;
  readonly event?: string;
  readonly data: Json;
}

/** As those of the stream, in events. `headers` more of the answer. */
export interface SseOptions<Item> extends Omit<SseStreamOptions<Item>, 'write' | 'writeError'> {
  readonly write: (item: Item) => SseEvent;
  readonly writeError: (error: unknown) => SseEvent;
  readonly headers?: Readonly<HeaderFields>;
}

/**
 * The items as server-sent events. An item is taken when the reader wants one: what a slow reader has not read waits where it
 * is kept. A reader that leaves ends the items.
 */
export const sseAnswer = <Item>(options: SseOptions<Item>): Answer => ({
  status: 200,
  headers: {
    ...options.headers,
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    // Proxies that gather what they pass on would hold events back.
    'x-accel-buffering': 'no',
  },
  body: new SseStream({
    ...options,
    write: (item) => encode(options.write(item)),
    writeError: (error) => encode(options.writeError(error)),
  }),
});

/** JSON has no line breaks, so that an event is one line of data. */
export function encode({ id, event, data }: SseEvent): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  const eventLine = event === undefined ? '' : `event: ${event}\n`;
  return `${idLine}${eventLine}data: ${JSON.stringify(data)}\n\n`;
}
