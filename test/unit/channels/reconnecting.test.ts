import { describe, expect, it } from 'vitest';
import type { A2AChannel } from '../../../runtime/channels/a2a-channel.ts';
import { ChannelPair, moves, numbered, type Sent } from '../../fixtures/channel-pair.ts';
import { helloOf, RawPeer } from '../../fixtures/raw-peer.ts';

const range = (count: number, sender = 'mars'): string[] =>
  Array.from({ length: count }, (_, n) => `${sender}-${n}`);

const outcomes = (sent: readonly Sent[]): Set<string> => new Set(sent.map(({ outcome }) => outcome));

describe('a channel that loses its connection (N-3.7, N-V01, N-T03)', () => {
  it.each(['drop', 'halfOpen', 'freeze'] as const)(
    'reconnects after %s, loses nothing and repeats nothing',
    async (trouble) => {
      const pair = new ChannelPair();
      const channel = await pair.open();
      const remote = pair.remote as A2AChannel;
      pair.faulty.faults = { maxDelayMs: 30 };
      const sent: Sent[] = [];
      for (let n = 0; n < 40; n++) {
        sent.push(pair.send(channel, numbered(n)), pair.send(remote, numbered(n, 'venus')));
        if (n === 20) {
          await pair.pass(10);
          pair.faulty[trouble]();
          await pair.pass(1);
        }
      }
      if (trouble !== 'freeze') expect(channel.status).toBe('reconnecting');
      await pair.pass(40_000);
      expect(outcomes(sent)).toEqual(new Set(['sent']));
      expect(pair.arrived).toEqual({ there: range(40), here: range(40, 'venus') });
      const roundTrip = ['connecting>open', 'open>reconnecting', 'reconnecting>open'];
      expect([moves(pair.events.here), moves(pair.events.there)]).toEqual([roundTrip, roundTrip]);
      expect(pair.faulty.connected).toBe(2);
    },
  );

  it('reconnects with a full window, and lets go what waited for room', async () => {
    const pair = new ChannelPair({ channel: { windowSize: 4 } });
    const channel = await pair.open();
    pair.faulty.judge = (frame) => (frame.includes('"ack"') ? 'lose' : undefined);
    const sent = range(20).map((_, n) => pair.send(channel, numbered(n)));
    await pair.pass(10);
    pair.faulty.drop();
    pair.faulty.judge = () => undefined;
    await pair.pass(1);
    sent.push(pair.send(channel, numbered(20)));
    expect(pair.arrived.there).toEqual(range(4));
    await pair.pass(1_000);
    expect(outcomes(sent)).toEqual(new Set(['sent']));
    expect(pair.arrived.there).toEqual(range(21));
  });

  it('is closed when it does not come back in time, at both ends, and says what may have arrived', async () => {
    const pair = new ChannelPair({ channel: { reconnectTimeoutMs: 3_000, windowSize: 1 } });
    const channel = await pair.open();
    pair.faulty.isDown = true;
    pair.faulty.judge = () => 'lose';
    const sent = [0, 1].map((n) => pair.send(channel, numbered(n)));
    await pair.pass(1);
    pair.faulty.drop();
    await pair.pass(2_990);
    expect([channel.status, pair.remote?.status]).toEqual(['reconnecting', 'reconnecting']);
    await pair.pass(20);
    expect([channel.status, pair.remote?.status]).toEqual(['closed', 'closed']);
    expect(sent.map(({ outcome, details }) => [outcome, details['mayHaveArrived']])).toEqual([
      ['CHANNEL_CLOSED', true],
      ['CHANNEL_CLOSED', false],
    ]);
    await pair.there.closeAll();
    expect(pair.leftOver()).toBe(0);
  });

  it('is closed when the other end has forgotten the channel', async () => {
    const pair = new ChannelPair();
    const channel = await pair.open();
    pair.faulty.halfOpen();
    await pair.there.closeAll();
    await pair.there.listen();
    await pair.pass(1_000);
    expect(channel.status).toBe('closed');
    expect(moves(pair.events.here)).toEqual(['connecting>open', 'open>reconnecting', 'reconnecting>closed']);
  });

  it('is closed when the other end has lost count', async () => {
    const pair = new ChannelPair();
    const peers: RawPeer[] = [];
    await pair.network.transport('there').listen((connection) => peers.push(new RawPeer(connection)));
    const opening = pair.here.openChannel('mars', 'venus');
    await pair.pass(1);
    const { channel: id } = (peers[0] as RawPeer).heard[0] as { channel: string };
    const welcome = helloOf({ type: 'welcome', channel: id, from: 'venus', to: 'mars' });
    peers[0]?.say(welcome);
    await pair.pass(1);
    const channel = await opening;
    const sent = pair.send(channel, numbered(0));
    await pair.pass(1);
    peers[0]?.say({ type: 'ack', channel: id, received: 1 });
    await pair.pass(1);
    expect(sent.outcome).toBe('sent');
    await peers[0]?.connection.close();
    await pair.pass(200);
    expect(peers[1]?.heard[0]).toMatchObject({ type: 'hello', resumes: true, received: 0 });
    peers[1]?.say(welcome);
    await pair.pass(1);
    expect(channel.status).toBe('closed');
  });

  it('finds a silent death by its heartbeat, and takes a quiet connection for alive', async () => {
    const pair = new ChannelPair({ channel: { heartbeatMs: 1_000, silenceTimeoutMs: 3_000 } });
    const channel = await pair.open();
    await pair.pass(60_000);
    expect([moves(pair.events.here), moves(pair.events.there)]).toEqual([
      ['connecting>open'],
      ['connecting>open'],
    ]);
    const pings = pair.faulty.sent.filter(({ frame }) => frame.includes('"ping"')).length;
    expect(pings).toBeLessThanOrEqual(122);
    pair.faulty.freeze();
    pair.faulty.isDown = true;
    await pair.pass(3_001);
    expect([channel.status, pair.remote?.status]).toEqual(['reconnecting', 'reconnecting']);
  });

  it('waits longer from dial to dial, and not at all after a connection that was worth something', async () => {
    const pair = new ChannelPair({ channel: { redial: { firstMs: 100, maxMs: 800, jitter: 0 } } });
    const channel = await pair.open();
    await pair.pass(6_000);
    pair.faulty.drop();
    await pair.pass(1);
    expect([channel.status, pair.faulty.connected]).toEqual(['open', 2]);
    pair.faulty.judge = () => {
      queueMicrotask(() => pair.faulty.drop());
      return 'lose';
    };
    pair.faulty.drop();
    const from = pair.faulty.connected;
    await pair.pass(10_000);
    expect(pair.faulty.connected - from).toBeLessThanOrEqual(15);
    expect(pair.faulty.connected - from).toBeGreaterThan(8);
  });
});
