import type { Readable, Writable } from 'node:stream';

const MAX_WORDS = 4_096;

/** The end of what a process wrote. */
export class LastWords {
  text = '';

  add(text: string): void {
    this.text = (this.text + text).slice(-MAX_WORDS);
  }
}

/**
 * Writes what a process prints to the host's own output, a piece at a time. The process never has the host's descriptors:
 * they would let it read a terminal, or cut a log short.
 */
export function forwardOutput(from: Readable | null, to: Writable, onText?: (text: string) => void): void {
  from?.on('error', () => undefined);
  from?.on('data', (chunk: Buffer) => {
    onText?.(chunk.toString());
    from.pause();
    to.write(chunk, () => from.resume());
  });
}
