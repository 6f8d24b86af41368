import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Connection, Frame, Listener, Transport } from '../../runtime/protocol/transport.ts';
import { rejection, until } from '../fixtures/until.ts';

/**
 * - `make`     a transport that connects, one that listens, an address where nobody does, and how to end it all.
 * - `leftOver` what is still open of it: ends and listeners.
 */
export interface TransportUnderTest {
  readonly dialling: Transport;
  readonly listening: Transport;
  readonly deadAddress: string;
  readonly leftOver?: () => number;
  close?(): Promise<void>;
}

interface Pair {
  readonly near: Connection;
  readonly far: Connection;
}

/** The contract of `Transport` as tests; a transport is one if it passes them unchanged. */
export function transportSuite(name: string, make: () => Promise<TransportUnderTest>): void {
  describe(`${name} as a transport (N-3.6)`, () => {
    let under: TransportUnderTest;
    let listener: Listener | undefined;
    const open: Connection[] = [];

    beforeEach(async () => {
      under = await make();
    });

    afterEach(async () => {
      await Promise.all(open.splice(0).map((connection) => connection.close()));
      await listener?.close();
      listener = undefined;
      await under.close?.();
    });

    const connect = async (): Promise<Pair> => {
      const arrived = Promise.withResolvers<Connection>();
      listener ??= await under.listening.listen((connection) => arrived.resolve(connection));
      const near = await under.dialling.connect(listener.address);
      const far = await arrived.promise;
      open.push(near, far);
      return { near, far };
    };

    const collect = (connection: Connection): Frame[] => {
      const frames: Frame[] = [];
      connection.onFrame((frame) => frames.push(frame));
      return frames;
    };

    const lost = (connection: Connection): Promise<string> =>
      new Promise((resolve) => connection.onLost(resolve));

    it('says what it is and how large a frame may be', () => {
      for (const transport of [under.dialling, under.listening]) {
        expect(['local', 'websocket', 'hyperswarm', 'libp2p']).toContain(transport.kind);
        expect(transport.maxFrameBytes).toBeGreaterThan(1_024);
      }
    });

    it('carries text and bytes whole, in order, in both directions', async () => {
      const { near, far } = await connect();
      const [there, back] = [collect(far), collect(near)];
      const frames: Frame[] = ['', 'ascii', 'zwölf Boxkämpfer 🥊', new Uint8Array([0, 255, 10, 13]), '{}'];
      for (let index = 0; index < 200; index++) frames.push(`frame ${index}`);
      await Promise.all(frames.flatMap((frame) => [near.send(frame), far.send(frame)]));
      await until('all frames', () => there.length === frames.length && back.length === frames.length);
      const plain = (all: Frame[]) => all.map((frame) => (typeof frame === 'string' ? frame : [...frame]));
      expect(plain(there)).toEqual(plain(frames));
      expect(plain(back)).toEqual(plain(frames));
    });

    it('has taken the bytes when send was called', async () => {
      const { near, far } = await connect();
      const frames = collect(far);
      const bytes = new Uint8Array([1, 2, 3]);
      const sent = near.send(bytes);
      bytes.fill(9);
      await sent;
      await until('the frame', () => frames.length === 1);
      expect([...(frames[0] as Uint8Array)]).toEqual([1, 2, 3]);
    });

    it('keeps frames until somebody takes them, and does not call within onFrame', async () => {
      const { near, far } = await connect();
      const sending = [near.send('one'), near.send('two')];
      await new Promise((resolve) => setTimeout(resolve, 20));
      const frames: Frame[] = [];
      far.onFrame((frame) => frames.push(frame));
      expect(frames).toEqual([]);
      await Promise.all(sending);
      await until('both frames', () => frames.length === 2);
      expect(frames).toEqual(['one', 'two']);
    });

    it('calls the last handler only, and none after it was taken away', async () => {
      const { near, far } = await connect();
      const first = collect(far);
      const second: Frame[] = [];
      const stop = far.onFrame((frame) => second.push(frame));
      await near.send('one');
      await until('a frame', () => second.length === 1);
      stop();
      void near.send('two').catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect([first, second]).toEqual([[], ['one']]);
    });

    it('carries a frame of the largest size, refuses a larger one, and goes on', async () => {
      const { near, far } = await connect();
      const frames = collect(far);
      const largest = 'x'.repeat(near.maxFrameBytes);
      await near.send(largest);
      expect((await rejection(near.send(`${largest}x`))).code).toBe('DELIVERY_FAILED');
      expect((await rejection(near.send('ü'.repeat(near.maxFrameBytes)))).code).toBe('DELIVERY_FAILED');
      await near.send('after');
      await until('both frames', () => frames.length === 2);
      expect(frames[0] === largest).toBe(true);
      expect(frames[1]).toBe('after');
    });

    it('counts what is not handed over, and nothing once it is', async () => {
      const { near, far } = await connect();
      const frames = collect(far);
      expect(near.bufferedBytes).toBe(0);
      const sending = near.send('x'.repeat(10_000));
      expect(near.bufferedBytes).toBeGreaterThanOrEqual(0);
      await sending;
      await until('the frame', () => frames.length === 1);
      expect(near.bufferedBytes).toBe(0);
    });

    it.each(['near', 'far'] as const)('tells both ends when the %s one closes', async (closing) => {
      const pair = await connect();
      const ends = [lost(pair.near), lost(pair.far)];
      collect(pair.near);
      collect(pair.far);
      await pair[closing].close();
      await pair[closing].close();
      for (const reason of await Promise.all(ends)) expect(reason).not.toBe('');
      for (const end of [pair.near, pair.far]) {
        const { code, message } = await rejection(end.send('late'));
        expect({ code, isNamed: message.length > 0 }).toEqual({ code: 'DELIVERY_FAILED', isNamed: true });
      }
    });

    it('brings what was sent before closing, then the end', async () => {
      const { near, far } = await connect();
      const seen: string[] = [];
      const over = new Promise<void>((resolve) => {
        far.onLost(() => {
          seen.push('lost');
          resolve();
        });
      });
      const sending = [near.send('one'), near.send('two')];
      far.onFrame((frame) => seen.push(String(frame)));
      await Promise.all(sending);
      await near.close();
      await over;
      expect(seen).toEqual(['one', 'two', 'lost']);
    });

    it('tells of an end that is past, once, and not to those who stopped listening', async () => {
      const { near, far } = await connect();
      collect(far);
      let calls = 0;
      near.onLost(() => {
        calls += 1;
      });
      near.onLost(() => {
        calls += 100;
      })();
      await near.close();
      await lost(near);
      let isWithin = true;
      const late = new Promise<boolean>((resolve) => near.onLost(() => resolve(isWithin)));
      isWithin = false;
      expect([await late, calls]).toEqual([false, 1]);
    });

    it('refuses to connect where nobody listens, and when it is told to stop', async () => {
      expect((await rejection(under.dialling.connect(under.deadAddress))).code).toBe('DELIVERY_FAILED');
      listener = await under.listening.listen((connection) => open.push(connection));
      const signal = AbortSignal.abort();
      const { address } = listener;
      expect((await rejection(under.dialling.connect(address, { signal }))).code).toBe('CANCELLED');
    });

    it('takes no more connections once it stopped listening, and keeps those that are open', async () => {
      const { near, far } = await connect();
      const frames = collect(far);
      const { address } = listener as Listener;
      await listener?.close();
      await listener?.close();
      expect((await rejection(under.dialling.connect(address))).code).toBe('DELIVERY_FAILED');
      await near.send('still');
      await until('the frame', () => frames.length === 1);
    });

    it('keeps connections apart', async () => {
      const arrived: Connection[] = [];
      listener = await under.listening.listen((connection) => arrived.push(connection));
      const nears = [
        await under.dialling.connect(listener.address),
        await under.dialling.connect(listener.address),
      ];
      await until('both', () => arrived.length === 2);
      open.push(...nears, ...arrived);
      const inboxes = arrived.map(collect);
      await nears[0]?.close();
      await nears[1]?.send('second');
      await until('the frame', () => inboxes.flat().length === 1);
      expect(inboxes.flat()).toEqual(['second']);
    });

    it('leaves nothing', async () => {
      const { near, far } = await connect();
      collect(far);
      await near.close();
      await far.close();
      await listener?.close();
      await until('nothing', () => (under.leftOver?.() ?? 0) === 0);
    });
  });
}
