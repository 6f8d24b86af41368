import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Connection, Frame, Listener, Transport } from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rejection, until } from '../fixtures/until.ts';

const LISTENER = fileURLToPath(new URL('../fixtures/peers/listener.ts', import.meta.url));
const LARGE = 256 * 1_024;
/** What an end without a handler has read at most: a window, or what comes in one read, and a frame that went beyond. */
const MAX_READ_AHEAD_BYTES = 1_048_576 + 65_536 + LARGE;

/**
 * - `make`    a transport that connects and one that listens.
 * - `process` the arguments of `fixtures/peers/listener.ts`: entry, factory, options.
 */
export interface NetworkUnderTest {
  readonly dialling: Transport & { close(): Promise<void> };
  readonly listening: Transport & { close(): Promise<void> };
  readonly process: readonly [entry: string, factory: string, options: object];
  close?(): Promise<void>;
}

/** What every transport over a network promises beyond the contract: nothing grows, and an end that is gone is an end. */
export function networkTransportSuite(name: string, make: () => Promise<NetworkUnderTest>): void {
  describe(`${name} over a network (N-3.6)`, () => {
    let under: NetworkUnderTest;
    let child: ChildProcess | undefined;
    let listener: Listener | undefined;

    beforeEach(async () => {
      under = await make();
    });

    afterEach(async () => {
      child?.kill('SIGKILL');
      child = undefined;
      await listener?.close();
      listener = undefined;
      await under.dialling.close();
      await under.listening.close();
      await under.close?.();
    });

    const connect = async (): Promise<{ near: Connection; far: Connection }> => {
      const arrived = Promise.withResolvers<Connection>();
      listener = await under.listening.listen((connection) => arrived.resolve(connection));
      const near = await under.dialling.connect(listener.address);
      return { near, far: await arrived.promise };
    };

    /** Sends until the way is full, and says how it stands then. */
    const fill = async (near: Connection, frame: Frame, count: number) => {
      const sent = { settled: 0, failed: 0, isDone: () => sent.settled + sent.failed === count };
      for (let index = 0; index < count; index++)
        near.send(frame).then(
          () => {
            sent.settled += 1;
          },
          () => {
            sent.failed += 1;
          },
        );
      let [before, sameFor] = [-1, 0];
      await until('the writer to stop', () => {
        sameFor = sent.settled === before ? sameFor + 1 : 0;
        before = sent.settled;
        return sameFor >= 20;
      });
      return sent;
    };

    it('stops a writer whose reader takes nothing, and goes on when it does', async () => {
      const { near, far } = await connect();
      const count = 200;
      const sent = await fill(near, 'x'.repeat(LARGE), count);
      expect(sent.failed).toBe(0);
      expect(sent.settled).toBeLessThan(count / 2);
      expect(near.bufferedBytes).toBe((count - sent.settled) * LARGE);
      let read = 0;
      far.onFrame((frame) => {
        expect(frame.length).toBe(LARGE);
        read += 1;
      });
      for (let turn = 0; turn < 20; turn++) await undefined;
      expect(read * LARGE).toBeLessThanOrEqual(MAX_READ_AHEAD_BYTES);
      await until('all frames', () => read === count);
      await until('all to be handed over', sent.isDone);
      expect([sent.settled, near.bufferedBytes]).toEqual([count, 0]);
    });

    it('stops a writer of many small frames too', async () => {
      const { near, far } = await connect();
      const count = 200_000;
      const sent = await fill(near, 'y'.repeat(200), count);
      expect(sent.settled).toBeLessThan(count * 0.75);
      let read = 0;
      far.onFrame(() => {
        read += 1;
      });
      for (let turn = 0; turn < 20; turn++) await undefined;
      expect(read * 200).toBeLessThanOrEqual(MAX_READ_AHEAD_BYTES);
      await until('all frames', () => read === count);
    });

    it('stops a writer whose reader has taken its handler away', async () => {
      const { near, far } = await connect();
      const frames: Frame[] = [];
      const stop = far.onFrame((frame) => frames.push(frame));
      await near.send('first');
      await until('a frame', () => frames.length === 1);
      stop();
      const count = 200;
      const sent = await fill(near, new Uint8Array(LARGE), count);
      expect(frames).toEqual(['first']);
      expect(sent.settled).toBeLessThan(count / 2);
    });

    it('brings large frames that were under way when it was closed', async () => {
      const { near, far } = await connect();
      const sizes: number[] = [];
      const over = new Promise<string>((resolve) => far.onLost(resolve));
      far.onFrame((frame) => sizes.push(frame.length));
      const sending = Promise.all(Array.from({ length: 8 }, () => near.send('z'.repeat(near.maxFrameBytes))));
      const closing = near.close();
      expect((await rejection(near.send('late'))).code).toBe('DELIVERY_FAILED');
      await Promise.all([sending, closing]);
      await over;
      expect(sizes).toEqual(Array.from({ length: 8 }, () => near.maxFrameBytes));
    });

    it('closes although the other end reads nothing, and settles every send', async () => {
      const { near } = await connect();
      const sent = await fill(near, 'x'.repeat(LARGE), 200);
      await near.close();
      await until('all to settle', sent.isDone);
      expect(sent.failed).toBeGreaterThan(0);
      expect(near.bufferedBytes).toBe(0);
    });

    it('ends when the process at the other end is killed', async () => {
      const [entry, factory, options] = under.process;
      child = spawn(process.execPath, [LISTENER, entry, factory, JSON.stringify(options)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
      const address = await new Promise<string>((resolve) => lines.once('line', resolve));
      const connection = await under.dialling.connect(address);
      const frames: Frame[] = [];
      connection.onFrame((frame) => frames.push(frame));
      await connection.send('there?');
      await until('the answer', () => frames.length === 1);
      const lost = new Promise<string>((resolve) => connection.onLost(resolve));
      child.kill('SIGKILL');
      expect(await lost).not.toBe('');
      expect((await rejection(connection.send('gone'))).code).toBe('DELIVERY_FAILED');
    });
  });
}
