import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { drained, writeWhole } from './write-answer.ts';

/** What is known whole goes out in one piece. */
export function writeText({ status, headers }: Response, text: string, outgoing: ServerResponse): void {
  writeWhole(status, fieldsOf(headers), text, outgoing);
}

/**
 * A stream as it comes, no faster than it is taken; the head goes out with its first piece, or alone when that is not here
 * yet. Who goes away ends it. Resolves when it is over, however that came.
 */
export async function writeStream(
  { status, headers, body }: Response,
  outgoing: ServerResponse,
): Promise<void> {
  if (body === null) {
    // As HEAD is answered.
    outgoing.writeHead(status, fieldsOf(headers)).end();
    return;
  }
  const reader = body.getReader();
  const leave = (): void => {
    reader.cancel().catch(() => undefined);
  };
  const gone = once(outgoing, 'close').then(leave, leave);
  if (outgoing.destroyed) return leave();
  outgoing.writeHead(status, fieldsOf(headers));
  setImmediate(() => outgoing.flushHeaders());
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read())
      if (!outgoing.write(read.value)) await Promise.race([drained(outgoing), gone]);
    outgoing.end();
  } catch {
    // Half of it must not look whole.
    outgoing.destroy();
  }
}

function fieldsOf(headers: Headers): Record<string, string> {
  const fields: Record<string, string> = {};
  headers.forEach((value, name) => {
    fields[name] = value;
  });
  return fields;
}
