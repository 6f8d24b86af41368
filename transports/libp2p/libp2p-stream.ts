import type { ByteStream, ByteStreamUser } from '../byte-frames/byte-stream-carrier.ts';
import type { PeerStream } from './libp2p-node.ts';

/** A stream of libp2p. It reads all the time: one that is paused is reset once its buffer is full. */
export function libp2pStream(stream: PeerStream, user: ByteStreamUser): ByteStream {
  stream.addEventListener('message', ({ data }) => user.onBytes(data.subarray()));
  stream.addEventListener('drain', () => user.onDrain());
  stream.addEventListener('end', () => user.onEnd());
  stream.addEventListener('close', ({ error }) => user.onOver(error?.message ?? 'the other end is gone'));
  const ended = stream.readableEnded || stream.status !== 'open';
  if (ended) queueMicrotask(() => user.onEnd());
  return {
    write: (bytes) => {
      // One that was closed meanwhile throws; its end is told by an event.
      if (stream.writeStatus !== 'writable') return false;
      return stream.send(bytes);
    },
    end: () => {
      stream.close().catch((error: Error) => stream.abort(error));
    },
    destroy: () => stream.abort(new Error('it was closed')),
  };
}
