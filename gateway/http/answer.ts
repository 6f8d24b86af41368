import type { ServerResponse } from 'node:http';
import { once } from 'node:events';

/** A piece of a text that is made while it is sent. `isLast`: nothing follows. */
export interface TextPiece {
  readonly text: string;
  readonly isLast: boolean;
}

/**
 * A text that is made while it is sent: a piece is made when its reader wants one, so that what a slow reader has not read
 * waits where it is kept.
 *
 * - `next`  the next piece; the first comes at once, whatever it says. Rejects when the rest cannot be made.
 * - `close` when the reader has gone, or has got the last piece.
 */
export interface TextStream {
  next(): Promise<TextPiece>;
  close(): void;
}

/** Headers of an answer, by names in lower case. */
export type HeaderFields = Record<string, string>;

/** An answer, independent of the server: a whole text, a text stream, or no body. */
export interface Answer {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: string | TextStream | undefined;
}

/** The same in the shape of `fetch`. */
export function responseOf({ status, headers, body }: Answer): Response {
  if (typeof body === 'string') return textResponse(body, { status, headers });
  return new Response(body === undefined ? null : readableOf(body), { status, headers });
}

const encoder = new TextEncoder();

const readableOf = (stream: TextStream): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      async pull(controller) {
        const { text, isLast } = await stream.next();
        if (text !== '') controller.enqueue(encoder.encode(text));
        if (!isLast) return;
        stream.close();
        controller.close();
      },
      cancel: () => stream.close(),
    },
    { highWaterMark: 0 },
  );

/** Headers that more can be said in: those of an answer, as those of `fetch`. */
export class AnswerHeaders {
  readonly #fields: HeaderFields;

  constructor(fields: HeaderFields) {
    this.#fields = fields;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#fields, name);
  }

  set(name: string, value: string): void {
    this.#fields[name] = value;
  }

  append(name: string, value: string): void {
    this.set(name, this.has(name) ? `${this.#fields[name]}, ${value}` : value);
  }
}

const METHODS = ['arrayBuffer', 'blob', 'bytes', 'clone', 'formData', 'json', 'text'] as const;

/**
 * An answer of a text that is known whole. Whoever sends it may ask for the text; for anybody else it is the answer that
 * `new Response(text)` is, which is made when it is read, because to make one costs as much as to answer.
 */
class TextResponse extends Response {
  readonly #text: string;
  #read: Response | undefined;

  constructor(text: string, init: ResponseInit) {
    super(null, init);
    this.#text = text;
  }

  /** The text; undefined once the body is being read. */
  get unread(): string | undefined {
    return this.#read === undefined ? this.#text : undefined;
  }

  #asRead(): Response {
    this.#read ??= new Response(this.#text, this);
    return this.#read;
  }

  static {
    // To the types these are properties of every response, which a class cannot override with accessors.
    for (const name of ['body', 'bodyUsed'] as const)
      Object.defineProperty(TextResponse.prototype, name, {
        get(this: TextResponse) {
          return this.#asRead()[name];
        },
      });
    for (const name of METHODS)
      Object.defineProperty(TextResponse.prototype, name, {
        value(this: TextResponse) {
          return this.#asRead()[name]();
        },
      });
  }
}

/** Throws TypeError as `Response` does. */
export const textResponse = (text: string, init: ResponseInit): Response => new TextResponse(text, init);

/** The text of a response made by `textResponse`; undefined for others. */
export const textOf = (response: Response): string | undefined =>
  response instanceof TextResponse ? response.unread : undefined;

/** Sends an answer: a whole text in one piece, a stream no faster than its reader takes it. */
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

/** Writes a stream. It ends when the reader leaves; one that fails must not look whole. */
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

/** Sends a whole text in one piece. */
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
