/** The largest answer that is read: 2,048 vectors of 1,536 numbers as text. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** A fetch that follows no redirect, which could lead the key and the texts elsewhere, and reads no answer without end. */
export const boundedFetch =
  (inner: typeof fetch): typeof fetch =>
  async (input, init) => {
    const response = await inner(input, { ...init, redirect: 'error' });
    if (response.body === null) return response;
    return new Response(response.body.pipeThrough(bounded(MAX_ANSWER_BYTES)), response);
  };

function bounded(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) controller.error(new Error(`the answer is larger than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
