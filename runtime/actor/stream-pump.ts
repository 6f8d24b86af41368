import { type Mail, NO_ASK } from '../mailbox/mail.ts';
import { REPLY } from '../threads/batch.ts';
import type { HandlerEntry } from './agent-definition.ts';
import type { Handling } from './handling.ts';
import { STREAM_WINDOW } from './waiting-stream.ts';

/** Chunks that the reader of one stream still takes; a handler that is ahead waits here. */
export class StreamWindow {
  #room = STREAM_WINDOW;
  #wake: (() => void) | undefined;

  pull(count: number): void {
    this.#room += count;
    this.#wake?.();
  }

  async take(signal: AbortSignal): Promise<void> {
    while (this.#room <= 0) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      this.#wake = undefined;
    }
    signal.throwIfAborted();
    this.#room -= 1;
  }
}

/** Sends what a stream's handler yields, as fast as its reader reads. Resolves when the handler ends. */
export async function pumpStream(entry: HandlerEntry, mail: Mail, handling: Handling): Promise<void> {
  const { cell } = handling;
  const window = cell.place.openWindow(mail);
  try {
    const chunks = entry.run(mail.payload as never, handling as never) as AsyncIterable<unknown>;
    for await (const chunk of chunks) {
      await window.take(handling.signal);
      if (mail.ask !== NO_ASK) cell.reply(mail, REPLY.chunk, chunk);
    }
  } finally {
    cell.place.closeWindow(mail);
  }
}
