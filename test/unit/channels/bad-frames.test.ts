import { describe, expect, it } from 'vitest';
import { ChannelPair, moves, numbered } from '../../fixtures/channel-pair.ts';
import { helloOf, RawPeer } from '../../fixtures/raw-peer.ts';

const data = (sequence: number, other: object = {}): object => ({
  type: 'data',
  channel: 'c1',
  sequence,
  envelope: numbered(sequence),
  ...other,
});

/** A raw peer that plays `mars` on an open channel. */
async function opened(channel: object = {}): Promise<{ pair: ChannelPair; peer: RawPeer }> {
  const pair = new ChannelPair({ channel: { windowSize: 8, ...channel } });
  await pair.there.listen();
  const peer = await RawPeer.connect(pair.network.transport(), 'there');
  peer.say(helloOf());
  peer.say({ type: 'ack', channel: 'c1', received: 0 });
  await pair.pass(1);
  expect(pair.there.listChannels()[0]?.status).toBe('open');
  return { pair, peer };
}

describe('frames that make no sense (N-3.4)', () => {
  it.each<[string, object | string | Uint8Array, string]>([
    ['no JSON', '{"type":', 'malformed'],
    ['bytes that are no text', new Uint8Array([0xff, 0xfe]), 'malformed'],
    ['no frame', '[1]', 'malformed'],
    ['an unknown type', { type: 'shout', channel: 'c1' }, 'malformed'],
    ['a sequence that is none', data(-1), 'malformed'],
    ['an envelope that is none', data(0, { envelope: { id: 1 } }), 'malformed'],
    ['another channel', data(0, { channel: 'c2' }), 'forged'],
    ['an envelope of another agent', data(0, { envelope: numbered(0, 'pluto') }), 'forged'],
    ['a sequence far outside the window', data(8), 'forged'],
    ['a sequence beyond all windows', data(2 ** 40), 'forged'],
    ['an acknowledgement of what was not sent', { type: 'ack', channel: 'c1', received: 1 }, 'forged'],
    ['a withdrawal of what is to come', { type: 'withdraw', channel: 'c1', sequence: 5 }, 'forged'],
    ['a second hello', helloOf(), 'unexpected'],
    ['a welcome', helloOf({ type: 'welcome' }), 'unexpected'],
  ])('are counted and skipped: %s', async (_what, frame, fault) => {
    const { pair, peer } = await opened();
    peer.say(frame);
    peer.say(data(0));
    await pair.pass(1);
    expect(pair.arrived.there).toEqual(['mars-0']);
    expect(pair.events.there.filter(({ type }) => type === 'frame-skipped')).toMatchObject([{ fault }]);
    expect(pair.there.counts()['frame-skipped']).toBe(1);
    expect(moves(pair.events.there)).toEqual(['connecting>open']);
  });

  it('are not an answer that nobody asked for, an envelope that came before, or an unknown field', async () => {
    const { pair, peer } = await opened();
    peer.say({ type: 'pong', channel: 'c1' });
    peer.say({ type: 'ack', channel: 'c1', received: 0, fromANewerPeer: true });
    peer.say(data(0));
    peer.say(data(0));
    await pair.pass(1);
    expect([pair.arrived.there, pair.there.counts()['frame-skipped']]).toEqual([['mars-0'], 0]);
  });

  it('end the connection when there are too many', async () => {
    const { pair, peer } = await opened({ maxBadFrames: 3 });
    for (let n = 0; n < 5; n++) peer.say('nonsense');
    await pair.pass(1);
    expect(peer.lostBecause).toBeDefined();
    expect(pair.there.counts()['frame-skipped']).toBe(3);
    expect(pair.there.listChannels()[0]?.status).toBe('reconnecting');
  });

  it('end the connection when one is too large', async () => {
    const { pair, peer } = await opened({ maxFrameBytes: 1_024 });
    peer.say(data(0, { envelope: numbered(0, 'mars', 'x'.repeat(1_024)) }));
    await pair.pass(1);
    expect(peer.lostBecause).toBeDefined();
    expect(pair.events.there).toContainEqual(
      expect.objectContaining({ type: 'frame-skipped', fault: 'oversized' }),
    );
    expect(pair.arrived.there).toEqual([]);
  });

  it('bound what waits for a gap to close, and always let the next one in', async () => {
    const { pair, peer } = await opened({ reorderBytes: 3_000 });
    const large = (n: number) => data(n, { envelope: numbered(n, 'mars', 'x'.repeat(1_200)) });
    for (const n of [1, 2, 3]) peer.say(large(n));
    await pair.pass(1);
    expect(pair.events.there.filter(({ type }) => type === 'frame-skipped')).toMatchObject([
      { fault: 'overflow' },
    ]);
    peer.say(large(0));
    await pair.pass(1);
    expect(pair.arrived.there).toEqual(['mars-0', 'mars-1', 'mars-2']);
    expect(peer.heard.at(-1)).toEqual({ type: 'ack', channel: 'c1', received: 3 });
  });

  it('do not make the channel deliver what was withdrawn, nor withdraw what was delivered', async () => {
    const { pair, peer } = await opened();
    peer.say(data(0));
    peer.say({ type: 'withdraw', channel: 'c1', sequence: 0 });
    peer.say({ type: 'withdraw', channel: 'c1', sequence: 1 });
    peer.say({ type: 'withdraw', channel: 'c1', sequence: 1 });
    peer.say(data(1));
    peer.say(data(2));
    await pair.pass(1);
    expect(pair.arrived.there).toEqual(['mars-0', 'mars-2']);
    expect(peer.heard.at(-1)).toEqual({ type: 'ack', channel: 'c1', received: 3, passedOver: 1 });
    expect(peer.heard).not.toContainEqual(expect.objectContaining({ passedOver: 0 }));
  });

  it('never end the process: a peer that says anything is answered or left', async () => {
    const { pair, peer } = await opened();
    for (const frame of [
      'null',
      '""',
      '1e999',
      '{"__proto__":{"type":"data"}}',
      '['.repeat(10_000),
      '\u0000',
    ])
      peer.say(frame);
    peer.say({ type: 'refuse', channel: 'c1', code: 'REFUSED', reason: '' });
    peer.say({ type: 'close', channel: 'c1' });
    await pair.pass(1);
    expect(pair.there.listChannels()).toEqual([]);
    await pair.there.closeAll();
    expect(pair.leftOver()).toBe(0);
  });
});
