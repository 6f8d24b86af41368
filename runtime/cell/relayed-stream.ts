import { type Mail, REPLY } from '../mailbox/mail.ts';
import type { Cell } from './cell.ts';
import type { Handling } from './handling.ts';
import { readerLeft, STREAM_WINDOW, type StreamWindow } from './stream-windows.ts';
import type { Timer } from './timer-wheel.ts';

/** A stream on its way to its reader from code that runs elsewhere: that may send as much as the reader takes. */
export class RelayedStream {
  readonly #cell: Cell;
  readonly #handling: Handling;
  readonly #window: StreamWindow;
  #timer: Timer | undefined;

  /** `pull` tells the code how much more it may send. */
  constructor(cell: Cell, handling: Handling, pull: (count: number) => void) {
    this.#cell = cell;
    this.#handling = handling;
    this.#window = cell.thread.windows.open(this.#mail, (count) => {
      this.#timer?.cancel();
      pull(count);
    });
    pull(STREAM_WINDOW);
  }

  /** Throws for more than was asked for. */
  send(chunk: unknown): void {
    if (this.#window.isFull) throw new Error('it streams more than it was asked for');
    this.#window.spend();
    if (!this.#handling.isOver) this.#cell.outcomes.reply(this.#mail, REPLY.chunk, chunk);
    if (this.#window.isFull) this.#waitForReader();
  }

  close(): void {
    this.#timer?.cancel();
    this.#cell.thread.windows.close(this.#mail);
  }

  get #mail(): Mail {
    return this.#handling.mail as Mail;
  }

  /** A reader that takes nothing for as long as a handling may take has left. */
  #waitForReader(): void {
    const { thread, handlingTimeoutMs } = this.#cell;
    this.#timer = thread.wheel.add(thread.seams.clock.now() + handlingTimeoutMs, () =>
      this.#handling.cutOff(readerLeft(this.#handling, handlingTimeoutMs)),
    );
  }
}
