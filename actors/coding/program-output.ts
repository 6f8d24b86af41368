/** How much of the last of an output is kept, characters. */
const MAX_TAIL = 2_000;

/** The end of an output, with a piece more. */
export const tailOf = (tail: string, chunk: Buffer): string =>
  (tail + chunk.toString('utf8')).slice(-MAX_TAIL);

/** Takes each piece. Resolves when there are no more, also when they were cut off. */
export async function eachChunk(
  stream: AsyncIterable<Buffer>,
  take: (chunk: Buffer) => void | Promise<void>,
): Promise<void> {
  try {
    for await (const chunk of stream) {
      const taken = take(chunk);
      if (taken !== undefined) await taken;
    }
  } catch {
    // It was closed: something outside its family held it.
  }
}
