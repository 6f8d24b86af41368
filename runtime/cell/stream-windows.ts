import type { HandlerEntry } from '../agent/agent-definition.ts';
import type { InFlow } from '../mailbox/in-flow.ts';
import { type Mail, REPLY } from '../mailbox/mail.ts';
import { parseOutput } from '../protocol/capability.ts';
import { OrreryError } from '../protocol/errors.ts';
import type { Handling } from './handling.ts';

/** Chunks that a stream's handler may be ahead of its reader. */
export const STREAM_WINDOW = 64;

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
      const room = Promise.withResolvers<void>();
      const wake = (): void => room.resolve();
      this.#wake = wake;
      signal.addEventListener('abort', wake, { once: true });
      await room.promise;
      signal.removeEventListener('abort', wake);
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

/** Sends what a stream's handler yields, as fast as its reader reads. Resolves when the handler ends. */
export async function pumpStream(entry: HandlerEntry, input: unknown, handling: Handling): Promise<void> {
  const { cell } = handling;
  const mail = handling.mail as Mail;
  const window = cell.thread.windows.open(mail);
  try {
    const chunks = entry.run(input as never, handling as never) as AsyncIterable<unknown>;
    for await (const chunk of chunks) {
      const parsed = parseOutput(entry.capability, chunk, cell.row.id);
      if (window.isFull) await waitForReader(window, handling);
      else await window.take(handling.signal);
      cell.outcomes.reply(mail, REPLY.chunk, parsed);
    }
  } finally {
    cell.thread.windows.close(mail);
  }
}

/** A reader that takes nothing for as long as a handling may take has left: the stream is cut off. */
async function waitForReader(window: StreamWindow, handling: Handling): Promise<void> {
  const { cell } = handling;
  const { thread, handlingTimeoutMs } = cell;
  const timer = thread.wheel.add(thread.seams.clock.now() + handlingTimeoutMs, () =>
    handling.cutOff(readerLeft(handling, handlingTimeoutMs)),
  );
  try {
    await window.take(handling.signal);
  } finally {
    timer.cancel();
  }
}

/** Why a stream is cut off that nobody reads any more. */
export function readerLeft({ mail, self }: Handling, timeoutMs: number): OrreryError {
  const what = `the stream ${(mail as Mail).id} of ${self}`;
  const message = `The reader of ${what} took nothing from it within ${timeoutMs} ms`;
  return new OrreryError('DEADLINE_EXCEEDED', message, { details: { what, timeoutMs } });
}
