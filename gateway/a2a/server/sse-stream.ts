import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { TextPiece, TextStream } from '../../http/answer.ts';
import { ArrivingItems } from './arriving-items.ts';

/**
 * - `write`       what is sent for an item.
 * - `writeError`  what is sent when the items end by an error.
 * - `heartbeatMs` how long after it began to wait, and after each heartbeat, the next comment line is sent.
 * - `onEnd`       called once, when the stream is over however that came.
 */
export interface SseStreamOptions<Item> {
  readonly items: AsyncIterable<Item>;
  readonly write: (item: Item) => string;
  readonly writeError: (error: unknown) => string;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly onEnd: () => void;
}

const HEARTBEAT = ':\n\n';
/** So many characters go out in one piece, about. */
const MOST_AT_ONCE = 64 * 1024;
/** An agent of the same thread has answered by then. */
const QUIET_TURNS = 3;
const END: TextPiece = { text: '', isLast: true };

/** Items as the text that is sent of them: what is there together goes out in one piece. */
export class SseStream<Item> implements TextStream {
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
    // The first line takes the headers along, also when the first item is long in coming.
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

  /** What is there, as text; '' when that is nothing yet. */
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

  /** What happens at once has happened after a few turns of the event loop in which nothing came. */
  async #comesSoon(): Promise<boolean> {
    for (let turn = 0; turn < QUIET_TURNS && !this.#items.isThere && !this.#isOver; turn++) {
      const soon = setImmediate(() => this.#items.wake());
      await this.#items.wait();
      clearImmediate(soon);
    }
    return this.#items.isThere && !this.#isOver;
  }
}
