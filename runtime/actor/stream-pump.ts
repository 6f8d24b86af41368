import { type Mail, NO_ASK } from '../mailbox/mail.ts';
import { REPLY } from '../threads/batch-format.ts';
import type { HandlerEntry } from './agent-definition.ts';
import type { Handling } from './handling.ts';

/** Sends what a stream's handler yields, as fast as its reader reads. Resolves when the handler ends. */
export async function pumpStream(entry: HandlerEntry, mail: Mail, handling: Handling): Promise<void> {
  const { cell } = handling;
  const window = cell.place.windows.open(mail);
  try {
    const chunks = entry.run(mail.payload as never, handling as never) as AsyncIterable<unknown>;
    for await (const chunk of chunks) {
      await window.take(handling.signal);
      if (mail.ask !== NO_ASK) cell.outcomes.reply(mail, REPLY.chunk, chunk);
    }
  } finally {
    cell.place.windows.close(mail);
  }
}
