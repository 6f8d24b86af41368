import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import type { TraceReader } from '@orrery/visualiser/model';
import { UsageError } from '../usage-error.ts';

const CHUNK_BYTES = 1024 * 1024;

/** Reads a trace to its end, or until `isEnough`. Throws UsageError if the file cannot be opened. */
export async function readTrace(
  path: string,
  reader: TraceReader,
  { signal, isEnough }: { readonly signal: AbortSignal; readonly isEnough: () => boolean },
): Promise<void> {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  try {
    await once(file, 'open');
    for await (const chunk of file) {
      reader.push(chunk as Buffer);
      if (isEnough() || signal.aborted) return;
    }
  } catch (error) {
    throw new UsageError(`The trace "${path}" cannot be read: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
  reader.end();
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'there is no such file';
  return code === 'EISDIR' ? 'it is a folder' : message;
}
