import type { FetchLike } from '@modelcontextprotocol/client';

const NEWLINE = 0x0a;
const RETURN = 0x0d;

export interface BoundedFetchDeps {
  readonly fetch: FetchLike;
  readonly maxMessageBytes: number;
  /** Called when a response is cut because it is too large. */
  readonly onTooLarge: () => void;
}

/**
 * Wraps `fetch`: bodies of requests and responses have `maxMessageBytes` at most. A stream of events may be of any length;
 * each event in it is bounded.
 */
export function boundedFetch({ fetch, maxMessageBytes, onTooLarge }: BoundedFetchDeps): FetchLike {
  return async (url, init) => {
    const { body } = init ?? {};
    if (typeof body === 'string' && Buffer.byteLength(body) > maxMessageBytes)
      throw new Error(
        `the message has ${Buffer.byteLength(body)} bytes, at most ${maxMessageBytes} are sent`,
      );
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const bounded = response.body.pipeThrough(bound(maxMessageBytes, isStream, onTooLarge));
    const { status, statusText, headers } = response;
    const copy = new Response(bounded, { status, statusText, headers });
    // The SDK reads these properties, and the constructor of `Response` cannot set them.
    for (const name of ['url', 'redirected', 'type'] as const)
      Object.defineProperty(copy, name, { value: response[name] });
    return copy;
  };
}

function bound(
  maxBytes: number,
  isStream: boolean,
  onTooLarge: () => void,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const longest = isStream ? longestEvent() : longestBody();
  return new TransformStream({
    transform(chunk, controller) {
      if (longest(chunk) > maxBytes) {
        onTooLarge();
        controller.error(new Error(`an answer of more than ${maxBytes} bytes`));
      } else controller.enqueue(chunk);
    },
  });
}

/** Counts all bytes of a body. */
function longestBody(): (chunk: Uint8Array) => number {
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.length;
    return bytes;
  };
}

/** Counts the bytes of the longest event that ends or goes on in a chunk. An empty line ends an event. */
function longestEvent(): (chunk: Uint8Array) => number {
  let bytes = 0;
  let isEmptyLine = false;
  return (chunk) => {
    let longest = 0;
    for (const byte of chunk) {
      const isEnd = byte === NEWLINE && isEmptyLine;
      if (!isEnd) bytes += 1;
      longest = Math.max(longest, bytes);
      if (isEnd) bytes = 0;
      if (byte !== RETURN) isEmptyLine = byte === NEWLINE;
    }
    return longest;
  };
}
