import { textResponse } from './text-response.ts';

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

/** What a request is answered with, in the shape of no server: a text that is known whole, one that is made, or none. */
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
