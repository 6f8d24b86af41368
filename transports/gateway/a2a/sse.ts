import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { Json } from './dialect.ts';

/** One event of a stream. `id`: what a client that comes back says it has seen last. */
export interface SseEvent {
  readonly id?: number;
  readonly event?: string;
  readonly data: Json;
}

/**
 * - `write`       what is sent for an item.
 * - `writeError`  what is sent when the items end by an error, before the stream is closed.
 * - `heartbeatMs` how long after the stream began, and after each heartbeat, the next comment line is sent.
 * - `onEnd`       called once, when the stream is over however that came.
 */
export interface SseOptions<Item> {
  readonly items: AsyncIterable<Item>;
  readonly write: (item: Item) => SseEvent;
  readonly writeError: (error: unknown) => SseEvent;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly onEnd: () => void;
  readonly headers?: Readonly<Record<string, string>>;
}

const HEARTBEAT = ':\n\n';
/** So many characters go out in one piece, about. */
const MOST_AT_ONCE = 64 * 1024;

/**
 * The items as server-sent events. An item is taken when the reader wants one: what a slow reader has not read waits where it
 * is kept. A reader that leaves ends the items.
 */
export function sseResponse<Item>(options: SseOptions<Item>): Response {
  return new Response(new ReadableStream(sourceOf(options), { highWaterMark: 0 }), {
    status: 200,
    headers: {
      ...options.headers,
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache',
      // Proxies that gather what they pass on would hold events back.
      'X-Accel-Buffering': 'no',
    },
  });
}

function sourceOf<Item>(options: SseOptions<Item>) {
  const { items, write, writeError, clock, heartbeatMs } = options;
  const ready = readyItems(items);
  let cancelTimer = (): void => undefined;
  let isOver = false;
  let hasBegun = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    cancelTimer();
    options.onEnd();
  };
  /** What is there, as text; '' when that is nothing yet. */
  const gather = async (mayWait: boolean): Promise<{ readonly text: string; readonly isLast: boolean }> => {
    let text = '';
    try {
      for (let waits = mayWait; text.length < MOST_AT_ONCE; waits = false) {
        const next = await ready.next(waits);
        if (next === undefined) break;
        if (next.done === true) return { text, isLast: true };
        text += encode(write(next.value));
      }
      return { text, isLast: false };
    } catch (error) {
      return { text: text + encode(writeError(error)), isLast: true };
    }
  };
  return {
    start(controller: ReadableStreamDefaultController<Uint8Array>) {
      const beat = (): void => {
        // Below 0 the reader has not read all that is there: it needs no sign of life.
        if ((controller.desiredSize ?? -1) >= 0) controller.enqueue(encoder.encode(HEARTBEAT));
        cancelTimer = clock.setTimer(heartbeatMs, beat);
      };
      cancelTimer = clock.setTimer(heartbeatMs, beat);
    },
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      const { text, isLast } = await gather(hasBegun);
      if (isOver) return;
      // The first line takes the headers along, also when the first item is long in coming.
      const isSilent = text === '' && !hasBegun;
      hasBegun = true;
      if (text !== '' || isSilent) controller.enqueue(encoder.encode(isSilent ? HEARTBEAT : text));
      if (!isLast) return;
      end();
      controller.close();
    },
    async cancel() {
      end();
      await ready.close();
    },
  };
}

/** Items one after the other: the next one whenever it comes, or only when it is there already. */
function readyItems<Item>(items: AsyncIterable<Item>) {
  const iterator = items[Symbol.asyncIterator]();
  let asked: Promise<IteratorResult<Item>> | undefined;
  return {
    /** Undefined: there is none yet, and nobody waits for it. Rejects as the items do. */
    async next(waits: boolean): Promise<IteratorResult<Item> | undefined> {
      asked ??= iterator.next();
      const next = await (waits ? asked : Promise.race([asked, soon()]));
      if (next !== undefined) asked = undefined;
      return next;
    },
    async close(): Promise<void> {
      asked?.catch(() => undefined);
      await iterator.return?.();
    },
  };
}

/** What happens at once has happened by then: it goes out in one piece. */
const soon = (): Promise<undefined> => new Promise((resolve) => setImmediate(resolve, undefined));

const encoder = new TextEncoder();

/** JSON has no line breaks, so that an event is one line of data. */
export function encode({ id, event, data }: SseEvent): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  const eventLine = event === undefined ? '' : `event: ${event}\n`;
  return `${idLine}${eventLine}data: ${JSON.stringify(data)}\n\n`;
}
