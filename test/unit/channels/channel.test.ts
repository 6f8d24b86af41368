import { describe, expect, it } from 'vitest';
import type { A2AChannel } from '../../../runtime/channels/a2a-channel.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { A2AEnvelope } from '../../../runtime/protocol/envelope.ts';
import { ChannelPair, moves, numbered } from '../../fixtures/channel-pair.ts';
import { rejection } from '../../fixtures/until.ts';

const range = (count: number, sender = 'mars'): string[] =>
  Array.from({ length: count }, (_, n) => `${sender}-${n}`);

/** A clock that is an hour ahead of the other one. */
const anHourAhead = (clock: () => Clock): Clock => ({
  now: () => clock().now() + 3_600_000,
  monotonicMs: () => clock().monotonicMs(),
  setTimer: (delayMs, fire) => clock().setTimer(delayMs, fire),
});

describe('sending over a channel (N-3.4, N-E06, C-05)', () => {
  it('carries envelopes both ways as they were when they were sent', async () => {
    const pair = new ChannelPair();
    const channel = await pair.open();
    const received: A2AEnvelope[] = [];
    pair.remote?.onMessage((envelope) => received.push(envelope));
    const envelope = {
      ...numbered(0, 'mars', { text: 'ü"\\', deep: [{ n: null }] }),
      correlationId: 'c',
      metadata: { tier: 2 as const, fromANewerPeer: true },
    };
    const expected = structuredClone(envelope);
    const sent = pair.send(channel, envelope);
    (envelope.payload as { text: string }).text = 'changed';
    const back = pair.send(pair.remote as A2AChannel, numbered(0, 'venus'));
    await pair.pass(1);
    expect([sent.outcome, back.outcome, pair.arrived.here]).toEqual(['sent', 'sent', ['venus-0']]);
    expect(received).toEqual([expected]);
  });

  it('tells how much time is left, whatever the clock of the other end says (C-15)', async () => {
    const pair: ChannelPair = new ChannelPair({
      hereOptions: {
        seams: { clock: anHourAhead(() => pair.clock), random: () => 0.5, newId: () => 'channel-1' },
      },
    });
    const channel = await pair.open();
    const received: A2AEnvelope[] = [];
    pair.remote?.onMessage((envelope) => received.push(envelope));
    const metadata = { tier: 2 as const, deadlineAtMs: pair.clock.now() + 3_600_000 + 60_000, other: 'kept' };
    pair.send(channel, { ...numbered(0), metadata });
    pair.send(channel, { ...numbered(1), metadata: { ...metadata, deadlineAtMs: 1 } });
    await pair.pass(1);
    const [first, late] = received.map(({ metadata: crossed }) => crossed);
    expect(first).toEqual({ ...metadata, deadlineAtMs: expect.any(Number) });
    const leftMs = (first?.deadlineAtMs ?? 0) - pair.clock.now();
    expect(leftMs).toBeGreaterThan(59_000);
    expect(leftMs).toBeLessThanOrEqual(60_000);
    expect(late?.deadlineAtMs).toBeLessThanOrEqual(pair.clock.now());
    expect(late?.deadlineAtMs).toBeGreaterThan(1);
  });

  it('refuses what is no envelope of the local agent, and what cannot cross', async () => {
    const pair = new ChannelPair({ channel: { maxFrameBytes: 2_048 } });
    const channel = await pair.open();
    for (const [envelope, code] of [
      [{ ...numbered(0), type: 'shout' }, 'INVALID_ENVELOPE'],
      [{ ...numbered(0), schemaVersion: 2 }, 'SCHEMA_VERSION_MISMATCH'],
      [numbered(0, 'venus'), 'INVALID_ENVELOPE'],
      [numbered(0, 'mars', { at: new Date(0) }), 'NOT_SERIALISABLE'],
      [numbered(0, 'mars', 'x'.repeat(2_048)), 'INVALID_ENVELOPE'],
      [undefined, 'INVALID_ENVELOPE'],
    ] as const) {
      expect((await rejection(channel.send(envelope as A2AEnvelope))).code).toBe(code);
    }
    await pair.pass(1);
    expect(pair.arrived.there).toEqual([]);
  });

  it('carries the largest envelope that it does not refuse', async () => {
    const pair = new ChannelPair({ channel: { maxFrameBytes: 2_048 } });
    const channel = await pair.open();
    const bytes = [...Array(600).keys()].map((n) => 1_400 + n);
    const outcomes = bytes.map((size, n) => pair.send(channel, numbered(n, 'mars', 'ü'.repeat(size / 2))));
    await pair.pass(100);
    const codes = new Set(outcomes.map(({ outcome }) => outcome));
    expect(codes).toEqual(new Set(['sent', 'INVALID_ENVELOPE']));
    expect(moves(pair.events.here)).toEqual(['connecting>open']);
  });

  it('waits while the window is full, is refused when too many wait, and can be taken back', async () => {
    const pair = new ChannelPair({ channel: { windowSize: 2, waitingCapacity: 2 } });
    const channel = await pair.open();
    pair.faulty.judge = (_frame, direction) => (direction === 'in' ? 'lose' : undefined);
    const patience = new AbortController();
    const sent = range(6).map((_, n) =>
      pair.send(channel, numbered(n), n === 2 ? patience.signal : undefined),
    );
    await pair.pass(1);
    expect(sent.map(({ outcome }) => outcome)).toEqual([
      ...['pending', 'pending', 'pending', 'pending', 'MAILBOX_FULL', 'MAILBOX_FULL'],
    ]);
    expect(pair.arrived.there).toEqual(range(2));
    patience.abort();
    await pair.pass(1);
    expect(sent[2]?.outcome).toBe('CANCELLED');
    pair.faulty.judge = () => undefined;
    await pair.pass(1_000);
    expect([sent[0]?.outcome, sent[1]?.outcome, sent[3]?.outcome]).toEqual(['sent', 'sent', 'sent']);
    expect(pair.arrived.there).toEqual(['mars-0', 'mars-1', 'mars-3']);
    expect((await rejection(channel.send(numbered(9), { signal: AbortSignal.abort() }))).code).toBe(
      'CANCELLED',
    );
  });

  it('puts no more into a connection that does not take it', async () => {
    const pair = new ChannelPair({ channel: { highWaterBytes: 1_000 } });
    const channel = await pair.open();
    let buffered = 0;
    const remote = pair.remote as A2AChannel;
    // The way back is not through the faulty transport: its connection is the local one, which counts.
    const sent = range(50).map((_, n) => pair.send(remote, numbered(n, 'venus', 'x'.repeat(300))));
    for (const { frame, direction } of pair.faulty.sent) if (direction === 'in') buffered += frame.length;
    expect(buffered).toBeLessThan(3_000);
    await pair.pass(10);
    expect(pair.arrived.here).toEqual(range(50, 'venus'));
    expect(new Set(sent.map(({ outcome }) => outcome))).toEqual(new Set(['sent']));
    expect(channel.status).toBe('open');
  });

  it('sends nothing that the narrower window of the other end has no place for', async () => {
    const pair = new ChannelPair({ channel: { windowSize: 100 }, remoteChannel: { windowSize: 3 } });
    const channel = await pair.open();
    pair.faulty.judge = (frame) => (frame.includes('"id":"mars-0"') ? 'lose' : undefined);
    for (let n = 0; n < 50; n++) pair.send(channel, numbered(n));
    await pair.pass(100);
    pair.faulty.judge = () => undefined;
    await pair.pass(2_000);
    expect(pair.arrived.there).toEqual(range(50));
    expect(pair.there.counts()['frame-skipped']).toBe(0);
  });

  it('gives up an envelope that the other end finds too large, and goes on', async () => {
    const pair = new ChannelPair({ remoteChannel: { maxFrameBytes: 1_024 } });
    const channel = await pair.open();
    const sent = [0, 1, 2].map((n) =>
      pair.send(channel, numbered(n, 'mars', n === 1 ? 'x'.repeat(2_000) : n)),
    );
    await pair.pass(10);
    expect(sent.map(({ outcome }) => outcome)).toEqual(['sent', 'DELIVERY_FAILED', 'sent']);
    expect(pair.arrived.there).toEqual(['mars-0', 'mars-2']);
  });

  it('keeps what arrives before there is a handler, and shows it to all there are', async () => {
    const pair = new ChannelPair();
    await pair.there.listen();
    const opening = pair.here.openChannel('mars', 'venus');
    await pair.pass(1);
    const channel = await opening;
    const sent = pair.send(pair.remote as A2AChannel, numbered(0, 'venus'));
    await pair.pass(300);
    expect(sent.outcome).toBe('pending');
    const seen: string[] = [];
    const stop = channel.onMessage(({ id }) => seen.push(`one ${id}`));
    channel.onMessage(({ id }) => seen.push(`two ${id}`));
    expect(seen).toEqual([]);
    await pair.pass(1);
    expect([sent.outcome, seen]).toEqual(['sent', ['one venus-0', 'two venus-0']]);
    stop();
    pair.send(pair.remote as A2AChannel, numbered(1, 'venus'));
    await pair.pass(1);
    expect(seen.slice(2)).toEqual(['two venus-1']);
  });

  it('reports a handler that throws or rejects, and counts its envelope as delivered', async () => {
    const pair = new ChannelPair();
    const channel = await pair.open();
    pair.remote?.onMessage(() => {
      throw new Error('thrown');
    });
    pair.remote?.onMessage(async () => {
      throw new Error('rejected');
    });
    const sent = pair.send(channel, numbered(0));
    await pair.pass(1);
    expect(sent.outcome).toBe('sent');
    const failures = pair.events.there.flatMap((event) =>
      event.type === 'handler-failed' ? [event.reason] : [],
    );
    expect(failures.sort()).toEqual(['rejected', 'thrown']);
  });

  it('lets a handler answer, send and close', async () => {
    const pair = new ChannelPair();
    const channel = await pair.open();
    const remote = pair.remote as A2AChannel;
    remote.onMessage(({ id }) => {
      if (id === 'mars-0') pair.send(remote, numbered(0, 'venus'));
      if (id === 'mars-1') void remote.close();
    });
    const sent = [0, 1, 2].map((n) => pair.send(channel, numbered(n)));
    await pair.pass(1_000);
    expect(pair.arrived.here).toEqual(['venus-0']);
    expect(pair.arrived.there).toEqual(['mars-0', 'mars-1']);
    expect([sent[2]?.outcome, channel.status]).toEqual(['CHANNEL_CLOSED', 'closed']);
  });
});

describe('a delivery that fails (N-3.5, N-E07)', () => {
  it('is known to have arrived when only its acknowledgements were lost', async () => {
    const pair = new ChannelPair({ channel: { retryDelayMs: 100 } });
    const channel = await pair.open();
    pair.faulty.judge = (frame, direction) =>
      direction === 'in' && frame.includes('"type":"ack"') ? 'lose' : undefined;
    const sent = [0, 1].map((n) => pair.send(channel, numbered(n)));
    await pair.pass(5_000);
    expect(sent.map(({ outcome }) => outcome)).toEqual(['sent', 'sent']);
    expect(pair.arrived.there).toEqual(range(2));
    expect(pair.here.counts()['delivery-failed']).toBe(0);
  });

  it('does not arrive later, when its last copy is under way while it is given up', async () => {
    const pair = new ChannelPair({ channel: { retryDelayMs: 100, maxRetries: 0 } });
    const channel = await pair.open();
    pair.faulty.faults = { maxDelayMs: 900 };
    const sent = [0, 1, 2, 3].map((n) => pair.send(channel, numbered(n)));
    await pair.pass(60_000);
    expect(pair.arrived.there).toEqual(sent.filter(({ outcome }) => outcome === 'sent').map(({ id }) => id));
  });

  it('ends the connection when the other end answers nothing, and learns the truth from the next', async () => {
    const pair = new ChannelPair({ channel: { retryDelayMs: 10 } });
    const channel = await pair.open();
    pair.faulty.judge = (frame) => (frame.includes('"ack"') ? 'lose' : undefined);
    const sent = pair.send(channel, numbered(0));
    await pair.pass(400);
    expect(sent.outcome).toBe('sent');
    expect(moves(pair.events.here)).toContain('open>reconnecting');
    expect(pair.arrived.there).toEqual(range(1));
  });

  it('is given up when four connections were lost over it, and the next goes through', async () => {
    const pair = new ChannelPair();
    const channel = await pair.open();
    pair.faulty.judge = (frame) => {
      if (!frame.includes('"id":"mars-0"')) return undefined;
      queueMicrotask(() => pair.faulty.drop());
      return 'lose';
    };
    const sent = [0, 1].map((n) => pair.send(channel, numbered(n)));
    await pair.pass(10_000);
    expect(sent.map(({ outcome }) => outcome)).toEqual(['DELIVERY_FAILED', 'sent']);
    expect(pair.arrived.there).toEqual(['mars-1']);
  });
});

describe('closing a channel (N-3.3, N-E06)', () => {
  it.each(['here', 'there'] as const)('closes both ends from %s, and leaves nothing', async (side) => {
    const pair = new ChannelPair();
    const channel = await pair.open();
    const remote = pair.remote as A2AChannel;
    pair.faulty.judge = (frame) => (frame.includes('"data"') || frame.includes('"ack"') ? 'lose' : undefined);
    const under = pair.send(channel, numbered(0));
    await pair.pass(1);
    const closing = (side === 'here' ? channel : remote).close();
    await pair.pass(1);
    await closing;
    expect([channel.status, remote.status, under.outcome]).toEqual(['closed', 'closed', 'CHANNEL_CLOSED']);
    expect(under.details['mayHaveArrived']).toBe(true);
    expect(pair.network.openEnds + pair.faulty.live + pair.clock.pending).toBe(0);
    expect([pair.here.listChannels(), pair.there.listChannels()]).toEqual([[], []]);
    for (const end of [channel, remote]) {
      expect((await rejection(end.send(numbered(1)))).code).toBe('CHANNEL_CLOSED');
      await end.close();
    }
  });

  it('closes when both sides do so at once', async () => {
    const pair = new ChannelPair();
    const channel = await pair.open();
    pair.faulty.faults = { maxDelayMs: 50 };
    const closing = [channel.close(), pair.remote?.close()];
    await pair.pass(100);
    await Promise.all(closing);
    expect([moves(pair.events.here), moves(pair.events.there)]).toEqual([
      ['connecting>open', 'open>closed'],
      ['connecting>open', 'open>closed'],
    ]);
    await pair.there.closeAll();
    expect(pair.leftOver()).toBe(0);
  });

  it('closes while it is connecting', async () => {
    const pair = new ChannelPair();
    await pair.there.listen();
    const failed = rejection(pair.here.openChannel('mars', 'venus'));
    await pair.here.listChannels()[0]?.close();
    expect((await failed).code).toBe('CHANNEL_CLOSED');
    await pair.there.closeAll();
    await pair.pass(10);
    expect(pair.leftOver()).toBe(0);
  });

  it('closes over a connection that is frozen, and the other end finds out by itself', async () => {
    const pair = new ChannelPair({ channel: { reconnectTimeoutMs: 2_000 } });
    const channel = await pair.open();
    pair.faulty.freeze();
    const closing = channel.close();
    await pair.pass(1_000);
    await closing;
    expect(pair.remote?.status).toBe('open');
    await pair.pass(17_000);
    expect(pair.remote?.status).toBe('closed');
    await pair.there.closeAll();
    expect(pair.leftOver()).toBe(0);
  });
});
