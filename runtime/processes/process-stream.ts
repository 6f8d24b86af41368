import type { Cell } from '../cell/cell.ts';
import type { Handling } from '../cell/handling.ts';
import { readerLeft, STREAM_WINDOW, type StreamWindow } from '../cell/stream-windows.ts';
import type { Timer } from '../cell/timer-wheel.ts';
import { type Mail, REPLY } from '../mailbox/mail.ts';

/** A stream on its way from a process to its reader: the process may send as much as the reader takes. */
export class ProcessStream {
  readonly #cell: Cell;
  readonly #handling: Handling;
  readonly #window: StreamWindow;
  #timer: Timer | undefined;

  /** `pull` tells the process how much more it may send. */
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
