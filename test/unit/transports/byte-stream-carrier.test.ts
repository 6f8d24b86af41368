import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../runtime/protocol/system-seams.ts';
import type { Frame } from '../../../runtime/protocol/transport.ts';
import { encodeCredit, encodeFrame, WINDOW } from '../../../transports/byte-frames/byte-frame.ts';
import {
  type ByteStreamUser,
  ByteStreamCarrier,
} from '../../../transports/byte-frames/byte-stream-carrier.ts';
import { CarriedConnection } from '../../../transports/carried-connection.ts';

/** A connection over a stream whose other end is the test. */
const over = () => {
  const written: Buffer[] = [];
  const stream = { isFull: false, hasEnded: false, isDestroyed: false };
  let user: ByteStreamUser | undefined;
  const connection = new CarriedConnection(
    (carried) =>
      new ByteStreamCarrier(
        (bytes) => {
          user = bytes;
          return {
            write: (piece) => {
              written.push(Buffer.from(piece));
              return !stream.isFull;
            },
            end: () => {
              stream.hasEnded = true;
            },
            destroy: () => {
              stream.isDestroyed = true;
            },
          };
        },
        1_048_576,
        carried,
      ),
    { maxFrameBytes: 1_048_576, clock: systemClock, onOver: () => undefined },
  );
  const lost = new Promise<string>((resolve) => connection.onLost(resolve));
  return { connection, written, stream, user: user as ByteStreamUser, lost };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const sizeOf = (written: readonly Buffer[]): number => written.reduce((sum, { length }) => sum + length, 0);

describe('ByteStreamCarrier', () => {
  it('writes what is sent in one turn in one go', async () => {
    const { connection, written } = over();
    await Promise.all(Array.from({ length: 100 }, (_, at) => connection.send(`frame ${at}`)));
    expect(written.length).toBe(1);
  });

  it('writes nothing more while the stream is full, and has handed over nothing', async () => {
    const { connection, written, stream, user } = over();
    stream.isFull = true;
    let isSettled = false;
    void connection.send('x'.repeat(100_000)).then(() => {
      isSettled = true;
    });
    await turn();
    expect([written.length, isSettled, connection.bufferedBytes]).toEqual([1, false, 100_000]);
    stream.isFull = false;
    user.onDrain();
    await turn();
    expect([sizeOf(written), isSettled, connection.bufferedBytes]).toEqual([100_005, true, 0]);
  });

  it('writes a window at most until it is granted more', async () => {
    const { connection, written, user } = over();
    const sends = [connection.send('x'.repeat(WINDOW)), connection.send('y')];
    await turn();
    expect(sizeOf(written)).toBe(5 + WINDOW - 64);
    expect(connection.bufferedBytes).toBe(WINDOW + 1);
    user.onBytes(encodeCredit(64));
    await turn();
    expect(connection.bufferedBytes).toBe(1);
    user.onBytes(encodeCredit(65));
    await Promise.all(sends);
    expect(sizeOf(written)).toBe(5 + WINDOW + 5 + 1);
  });

  it('grants more as frames are read, and nothing while nobody takes them', async () => {
    const { connection, written, user } = over();
    const piece = encodeFrame(new Uint8Array(65_536 - 64));
    for (let count = 0; count < 16; count++) user.onBytes(piece);
    await turn();
    expect(written).toEqual([]);
    const frames: Frame[] = [];
    connection.onFrame((frame) => frames.push(frame));
    // A busy machine takes them in several turns.
    while (frames.length < 16) await turn();
    await turn();
    expect(frames.length).toBe(16);
    expect(written).toEqual([encodeCredit(WINDOW)]);
    for (let count = 0; count < 4; count++) user.onBytes(piece);
    while (written.length < 2) await turn();
    expect(written[1]).toEqual(encodeCredit(WINDOW / 4));
  });

  it('ends one that sends more than its window, however small the frames are', async () => {
    const { user, stream, lost, connection } = over();
    const many = Buffer.concat(Array.from({ length: 1_000 }, () => encodeFrame('')));
    for (let count = 0; count < 16; count++) user.onBytes(many);
    expect(stream.isDestroyed).toBe(false);
    user.onBytes(many);
    expect(stream.isDestroyed).toBe(true);
    connection.onFrame(() => undefined);
    expect(await lost).toBe('more bytes than its window');
  });

  it('ends one that grants more than was used', async () => {
    const { user, stream, lost } = over();
    user.onBytes(encodeCredit(1));
    expect(await lost).toBe('more credit than was used');
    expect(stream.isDestroyed).toBe(true);
  });

  it('takes a stream that ends within a frame as lost', async () => {
    const { user, lost, connection } = over();
    user.onBytes(encodeFrame('whole'));
    user.onBytes(encodeFrame('half').subarray(0, 7));
    const frames: Frame[] = [];
    connection.onFrame((frame) => frames.push(frame));
    user.onEnd();
    expect([await lost, frames]).toEqual(['the other end ended within a frame', ['whole']]);
  });

  it('ends the stream once what was sent is written', async () => {
    const { connection, stream, user } = over();
    stream.isFull = true;
    const sent = connection.send('x'.repeat(100_000));
    const closed = connection.close();
    await turn();
    expect(stream.hasEnded).toBe(false);
    stream.isFull = false;
    user.onDrain();
    await sent;
    expect(stream.hasEnded).toBe(true);
    user.onEnd();
    await closed;
  });
});
