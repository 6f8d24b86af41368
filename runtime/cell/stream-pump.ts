import type { Mail } from '../mailbox/mail.ts';
import { parseOutput } from '../protocol/capability.ts';
import { OrreryError } from '../protocol/errors.ts';
import { REPLY } from '../mailbox/reply.ts';
import type { HandlerEntry } from '../agent/agent-definition.ts';
import type { Handling } from './handling.ts';
import type { StreamWindow } from './stream-windows.ts';
import { cutOff } from './time-limit.ts';

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
    cutOff(cell, handling, readerLeft(handling, handlingTimeoutMs)),
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
