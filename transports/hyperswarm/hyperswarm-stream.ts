import type { SecretStream } from 'hyperdht';
import { reasonOf } from '../../runtime/protocol/errors.ts';
import type { ByteStream, ByteStreamUser } from '../byte-frames/byte-stream-carrier.ts';

/** An encrypted stream of Hyperswarm. It never stops a writer by itself: what nobody reads piles up at the reader. */
export function hyperswarmStream(stream: SecretStream, user: ByteStreamUser): ByteStream {
  let fault: string | undefined;
  stream.on('data', (bytes: Uint8Array) => user.onBytes(bytes));
  stream.on('drain', () => user.onDrain());
  stream.on('end', () => user.onEnd());
  stream.on('error', (error: unknown) => {
    fault = reasonOf(error);
  });
  stream.on('close', () => user.onOver(fault ?? 'the other end is gone'));
  return {
    write: (bytes) => stream.write(bytes),
    end: () => stream.end(),
    destroy: () => stream.destroy(),
  };
}
