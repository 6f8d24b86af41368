import type { Answer, HeaderFields, TextPiece, TextStream } from './answer.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';

/** One event of a stream. `id`: what a client that comes back says it has seen last. `data` is what JSON carries. */
export interface SseEvent {
  readonly id?: number;
  readonly event?: string;
  readonly data: unknown;
}

/** As those of the stream, in events. `headers` more of the answer. */
export interface SseOptions<Item> extends Omit<SseStreamOptions<Item>, 'write' | 'writeError'> {
  readonly write: (item: Item) => SseEvent;
  readonly writeError: (error: unknown) => SseEvent;
  readonly headers?: Readonly<HeaderFields>;
}

/**
 * The items as server-sent events. An item is taken when the reader wants one, so a slow reader fills no buffer here. A
 * reader that leaves ends the items.
 */
export const sseAnswer = <Item>(options: SseOptions<Item>): Answer => ({
  status: 200,
  headers: {
    ...options.headers,
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    // Keeps buffering proxies from holding events back.
    'x-accel-buffering': 'no',
  },
  body: new SseStream({
    ...options,
    write: (item) => encode(options.write(item)),
    writeError: (error) => encode(options.writeError(error)),
  }),
});

/** The text of an event: one line of data, because JSON has no line breaks. */
export function encode({ id, event, data }: SseEvent): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  const eventLine = event === undefined ? '' : `event: ${event}\n`;
  return `${idLine}${eventLine}data: ${JSON.stringify(data)}\n\n`;
}

/** Items that are asked for ahead, so that one can be taken without waiting. */
export class ArrivingItems<Item> {
  readonly #items: AsyncIterator<Item>;
  #isAsked = false;
  #arrived: IteratorResult<Item> | undefined;
  #fault: { readonly error: unknown } | undefined;
  #wake = (): void => undefined;

  constructor(items: AsyncIterable<Item>) {
    this.#items = items[Symbol.asyncIterator]();
  }

  /** Whether something can be taken without waiting. */
  get isThere(): boolean {
    return this.#arrived !== undefined || this.#fault !== undefined;
  }

  /** The next one, or the end, if that is there already. Throws as the items do. */
  take(): IteratorResult<Item> | undefined {
    if (!this.#isAsked) this.#ask();
    if (this.#fault !== undefined) throw this.#fault.error;
    const arrived = this.#arrived;
    if (arrived === undefined || arrived.done === true) return arrived;
    this.#arrived = undefined;
    this.#isAsked = false;
    return arrived;
  }

  /** Resolves when the next one is there, the items fail, or `wake` is called. */
  wait(): Promise<void> {
    if (!this.#isAsked) this.#ask();
    if (this.isThere) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  wake(): void {
    this.#wake();
  }

  /** Ends the items. */
  close(): void {
    this.#items.return?.().catch(() => undefined);
  }

  #ask(): void {
    this.#isAsked = true;
    this.#items.next().then(
      (arrived) => {
        this.#arrived = arrived;
        this.#wake();
      },
      (error: unknown) => {
        this.#fault = { error };
        this.#wake();
      },
    );
  }
}

/**
 * - `write`       what is sent for an item.
 * - `writeError`  what is sent when the items end by an error.
 * - `heartbeatMs` how long after it began to wait, and after each heartbeat, the next comment line is sent.
 * - `onEnd`       called once, when the stream is over however that came.
 */
interface SseStreamOptions<Item> {
  readonly items: AsyncIterable<Item>;
  readonly write: (item: Item) => string;
  readonly writeError: (error: unknown) => string;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly onEnd: () => void;
}

const HEARTBEAT = ':\n\n';
/** About how many characters go out in one piece. */
const MOST_AT_ONCE = 64 * 1024;
/** Turns of the event loop without an item, before what there is goes out: an agent of this thread has answered by then. */
const QUIET_TURNS = 3;
const END: TextPiece = { text: '', isLast: true };

/** The text of items. Items that are there together go out in one piece. */
class SseStream<Item> implements TextStream {
  readonly #options: SseStreamOptions<Item>;
  readonly #items: ArrivingItems<Item>;
  #hasBegun = false;
  #isBeatDue = false;
  #isOver = false;
  #cancelBeat: (() => void) | undefined;

  constructor(options: SseStreamOptions<Item>) {
    this.#options = options;
    this.#items = new ArrivingItems(options.items);
  }

  async next(): Promise<TextPiece> {
    if (this.#hasBegun && !this.#isOver) await this.#itemOrBeat();
    if (this.#isOver) return END;
    const { text, isLast } = await this.#gathered();
    if (isLast) this.#end();
    // A first comment line sends the headers, also when the first item takes long.
    const isSilent = text === '' && !isLast;
    this.#hasBegun = true;
    this.#isBeatDue = false;
    return { text: isSilent ? HEARTBEAT : text, isLast };
  }

  close(): void {
    if (this.#isOver) return;
    this.#end();
    this.#items.close();
  }

  #end(): void {
    this.#isOver = true;
    this.#cancelBeat?.();
    this.#items.wake();
    this.#options.onEnd();
  }

  #itemOrBeat(): Promise<void> {
    if (this.#isBeatDue) return Promise.resolve();
    if (this.#cancelBeat === undefined) this.#beatLater();
    return this.#items.wait();
  }

  #beatLater(): void {
    const { clock, heartbeatMs } = this.#options;
    this.#cancelBeat = clock.setTimer(heartbeatMs, () => {
      this.#isBeatDue = true;
      this.#items.wake();
      this.#beatLater();
    });
  }

  /** The items that are there, as text; '' when there are none yet. */
  async #gathered(): Promise<TextPiece> {
    const { write, writeError } = this.#options;
    let text = '';
    try {
      while (text.length < MOST_AT_ONCE) {
        const next = this.#items.take();
        if (next?.done === true) return { text, isLast: true };
        if (next !== undefined) text += write(next.value);
        else if (!(await this.#comesSoon())) break;
      }
      return { text, isLast: false };
    } catch (error) {
      return { text: text + writeError(error), isLast: true };
    }
  }

  /** Whether an item comes within a few turns of the event loop. */
  async #comesSoon(): Promise<boolean> {
    for (let turn = 0; turn < QUIET_TURNS && !this.#items.isThere && !this.#isOver; turn++) {
      const soon = setImmediate(() => this.#items.wake());
      await this.#items.wait();
      clearImmediate(soon);
    }
    return this.#items.isThere && !this.#isOver;
  }
}
