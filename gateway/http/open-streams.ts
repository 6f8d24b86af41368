import type { TextStream } from './answer.ts';

/** `onEnd` hears of the stream's end. `cut` ends the connection, so that a cut stream does not look whole. */
export interface StreamDeps {
  readonly onEnd: () => void;
  readonly onFault: (error: unknown) => void;
  readonly cut: (() => void) | undefined;
}

/** The open streams of a gateway. */
export class OpenStreams {
  readonly #open = new Set<() => void>();

  get size(): number {
    return this.#open.size;
  }

  /** Wraps a response, and counts its stream as open until it ends, is cancelled or is cut. */
  track(response: Response, { onEnd, onFault, cut }: StreamDeps): Response {
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let isCut = false;
    const end = (): boolean => {
      const isFirst = this.#open.delete(cutNow);
      if (isFirst) onEnd();
      return isFirst;
    };
    const cutNow = (): void => {
      isCut = end();
      reader.cancel().catch(() => undefined);
      cut?.();
    };
    /** Fails the stream, unless its connection is cut. */
    const fail = (controller: ReadableStreamDefaultController): void => {
      if (cut === undefined) controller.error(new Error('The stream was cut'));
    };
    this.#open.add(cutNow);
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await reader.read();
            if (isCut) return fail(controller);
            if (!done) return controller.enqueue(value);
            // Whoever cancels it ends it first.
            if (end()) controller.close();
          } catch (error) {
            end();
            onFault(error);
            cut?.();
            fail(controller);
          }
        },
        cancel: (reason) => {
          end();
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { status: response.status, headers: response.headers });
  }

  /** Wraps a text stream, and counts it as open until it ends, its reader leaves or it is cut. */
  follow(stream: TextStream, { onEnd, onFault, cut }: StreamDeps): TextStream {
    let isCut = false;
    const end = (): void => {
      if (this.#open.delete(cutNow)) onEnd();
      stream.close();
    };
    const cutNow = (): void => {
      isCut = true;
      end();
      cut?.();
    };
    this.#open.add(cutNow);
    return {
      next: async () => {
        try {
          const piece = await stream.next();
          if (piece.isLast) end();
          if (isCut) throw new Error('The stream was cut');
          return piece;
        } catch (error) {
          if (!isCut) onFault(error);
          end();
          throw error;
        }
      },
      close: end,
    };
  }

  /** Cuts all open streams. */
  cutAll(): void {
    for (const cut of [...this.#open]) cut();
  }
}

/** Whether the headers are those of server-sent events. */
export const isEventStream = (headers: Headers): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true;
