import type { InFlow } from '../mailbox/in-flow.ts';
import type { Mail } from '../mailbox/mail.ts';
import { STREAM_WINDOW } from './waiting-stream.ts';

/** Chunks that the reader of one stream still takes; a handler that is ahead waits here. */
export class StreamWindow {
  readonly #onPull: ((count: number) => void) | undefined;
  #room = STREAM_WINDOW;
  #wake: (() => void) | undefined;

  /** `onPull` hears of each time that the reader takes more. */
  constructor(onPull?: (count: number) => void) {
    this.#onPull = onPull;
  }

  /** The handler has to wait before its next chunk. */
  get isFull(): boolean {
    return this.#room <= 0;
  }

  pull(count: number): void {
    this.#room += count;
    this.#wake?.();
    this.#onPull?.(count);
  }

  /** One chunk is sent, whether there is room or not. */
  spend(): void {
    this.#room -= 1;
  }

  async take(signal: AbortSignal): Promise<void> {
    while (this.isFull) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      this.#wake = undefined;
    }
    signal.throwIfAborted();
    this.spend();
  }
}

/** The streams that agents of one thread are sending. */
export class StreamWindows {
  readonly #ownIncarnation: number;
  readonly #windows = new Map<string, StreamWindow>();

  constructor(ownIncarnation: number) {
    this.#ownIncarnation = ownIncarnation;
  }

  open(mail: Mail, onPull?: (count: number) => void): StreamWindow {
    const window = new StreamWindow(onPull);
    this.#windows.set(this.#keyOf(mail), window);
    return window;
  }

  close(mail: Mail): void {
    this.#windows.delete(this.#keyOf(mail));
  }

  /** The stream that answers ask `ask` of the thread in `incarnation`. */
  find(incarnation: number, ask: number): StreamWindow | undefined {
    return this.#windows.get(`${incarnation}/${ask}`);
  }

  #keyOf(mail: Mail): string {
    const { incarnation } = mail.flow as InFlow;
    return `${incarnation < 0 ? this.#ownIncarnation : incarnation}/${mail.ask}`;
  }
}
