import type { ServerResponse } from 'node:http';
import type { Answer, HeaderFields, TextStream } from './answer.ts';

/** Sends an answer: what is known whole in one piece, and what is made no faster than it is taken. */
export async function writeAnswer(answer: Answer, outgoing: ServerResponse): Promise<void> {
  const { status, headers, body } = answer;
  if (typeof body === 'string') writeWhole(status, headers, body, outgoing);
  else if (body === undefined) outgoing.writeHead(status, headers).end();
  else await writePieces(status, headers, body, outgoing);
}

export function writeWhole(
  status: number,
  headers: HeaderFields,
  text: string,
  outgoing: ServerResponse,
): void {
  headers['content-length'] = String(Buffer.byteLength(text));
  outgoing.writeHead(status, headers).end(text);
}

/** Who goes away ends it; what breaks off must not look whole. */
async function writePieces(
  status: number,
  headers: HeaderFields,
  stream: TextStream,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    outgoing.once('close', () => {
      stream.close();
      resolve();
    });
  });
  if (outgoing.destroyed) return stream.close();
  try {
    const first = await stream.next();
    if (outgoing.destroyed) return;
    if (first.isLast) return writeWhole(status, headers, first.text, outgoing);
    outgoing.writeHead(status, headers);
    for (let piece = first; ; piece = await stream.next()) {
      if (outgoing.destroyed) return;
      if (piece.isLast) return void outgoing.end(piece.text);
      if (!outgoing.write(piece.text)) await Promise.race([drained(outgoing), gone]);
    }
  } catch {
    outgoing.destroy();
  }
}

/** Resolves when it takes more. */
export const drained = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    outgoing.once('drain', resolve);
  });
