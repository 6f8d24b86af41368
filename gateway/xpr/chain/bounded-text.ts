/** The error for a body of more than `maxBytes` bytes. */
export class TooManyBytes extends Error {
  constructor(maxBytes: number) {
    super(`the answer has more than ${maxBytes} bytes`);
    this.name = 'TooManyBytes';
  }
}

/** Reads a body as UTF-8. Rejects with `TooManyBytes`, and with the error that cuts it off. */
export async function boundedText(response: Response, maxBytes: number): Promise<string> {
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel();
    throw new TooManyBytes(maxBytes);
  }
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new TooManyBytes(maxBytes);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
