import { describe, expect, it } from 'vitest';
import { ChannelPair, moves, numbered } from '../../fixtures/channel-pair.ts';
import { helloOf, RawPeer } from '../../fixtures/raw-peer.ts';
import { rejection } from '../../fixtures/until.ts';

/** A raw peer that has said `frames` to the manager of `venus`. */
async function saying(...frames: (object | string)[]): Promise<{ pair: ChannelPair; peer: RawPeer }> {
  const pair = new ChannelPair();
  await pair.there.listen();
  const peer = await RawPeer.connect(pair.network.transport(), 'there');
  for (const frame of frames) peer.say(frame);
  await pair.pass(1);
  return { pair, peer };
}

describe('opening a channel (N-3.1, N-3.2, N-D08)', () => {
  it('is connecting until both ends have acknowledged, and has one id at both', async () => {
    const pair = new ChannelPair();
    await pair.there.listen();
    const opening = pair.here.openChannel('mars', 'venus');
    const [listed] = pair.here.listChannels();
    expect(listed).toMatchObject({ status: 'connecting', localAgentId: 'mars', remoteAgentId: 'venus' });
    await pair.pass(1);
    const channel = await opening;
    expect(channel).toBe(listed);
    expect(channel).toMatchObject({ status: 'open', transport: 'local' });
    expect(pair.remote).toMatchObject({ id: channel.id, status: 'open', localAgentId: 'venus' });
    expect(pair.there.getChannel(channel.id)).toBe(pair.remote);
    expect(pair.here.getChannel('other')).toBeUndefined();
  });

  it('gives every channel an id of its own', async () => {
    const pair = new ChannelPair();
    const [one, other] = [
      await pair.open(),
      await pair.here.openChannel('mars', 'venus').catch(() => undefined),
    ];
    expect(one?.id).not.toBe(other?.id);
    expect(pair.there.listChannels()).toHaveLength(2);
  });

  it('is not open for the end that accepts before the other one has heard the welcome', async () => {
    const { pair, peer } = await saying(helloOf());
    expect(peer.heard).toEqual([
      expect.objectContaining({ type: 'welcome', from: 'venus', to: 'mars', received: 0 }),
    ]);
    expect(pair.there.listChannels()[0]?.status).toBe('connecting');
    peer.say({ type: 'ack', channel: 'c1', received: 0 });
    await pair.pass(1);
    expect(pair.there.listChannels()[0]?.status).toBe('open');
  });

  it('dials again when hello, welcome or acknowledgement is lost', async () => {
    for (const lost of ['"hello"', '"welcome"', '"ack"']) {
      const pair = new ChannelPair();
      let isFirst = true;
      pair.faulty.judge = (frame) => {
        if (!isFirst || !frame.includes(lost)) return undefined;
        isFirst = false;
        return 'lose';
      };
      await pair.there.listen();
      const opening = pair.here.openChannel('mars', 'venus');
      await pair.pass(9_000);
      const channel = await opening;
      expect([lost, channel.status, pair.remote?.status]).toEqual([lost, 'open', 'open']);
      const sent = pair.send(channel, numbered(0));
      await pair.pass(10);
      expect([sent.outcome, pair.there.listChannels().length]).toEqual(['sent', 1]);
    }
  });

  it('resumes with an end that was welcomed, though its acknowledgement was lost with the connection', async () => {
    const { pair } = await saying(helloOf());
    const again = await RawPeer.connect(pair.network.transport(), 'there');
    again.say(helloOf({ resumes: true }));
    await pair.pass(1);
    expect(again.types()).toEqual(['welcome']);
  });

  it.each([
    ['another agent', { to: 'pluto' }, 'AGENT_NOT_FOUND'],
    ['another version', { version: 2 }, 'SCHEMA_VERSION_MISMATCH'],
    ['a channel that is not here', { resumes: true }, 'CHANNEL_CLOSED'],
    ['a new channel that received something', { received: 3 }, 'REFUSED'],
  ])('refuses a hello for %s', async (_what, other, code) => {
    const { pair, peer } = await saying(helloOf(other));
    expect(peer.heard).toEqual([expect.objectContaining({ type: 'refuse', channel: 'c1', code })]);
    expect(peer.lostBecause).toBeDefined();
    expect(pair.there.listChannels()).toEqual([]);
    expect(pair.events.there).toContainEqual(
      expect.objectContaining({ type: 'hello-refused', errorCode: code, channelId: 'c1' }),
    );
    await pair.there.closeAll();
    expect(pair.leftOver()).toBe(0);
  });

  it.each([
    ['of other agents', { from: 'pluto', resumes: true }],
    ['that claims to be new', {}],
    ['that received what was never sent', { resumes: true, received: 5 }],
  ])('refuses a hello for a foreign channel id %s, and leaves that channel alone', async (_what, other) => {
    const pair = new ChannelPair();
    const channel = await pair.open();
    const thief = await RawPeer.connect(pair.network.transport(), 'there');
    thief.say(helloOf({ channel: channel.id, ...other }));
    await pair.pass(1);
    expect(thief.heard).toEqual([expect.objectContaining({ type: 'refuse', code: 'REFUSED' })]);
    const sent = pair.send(channel, numbered(0));
    await pair.pass(1);
    expect([sent.outcome, moves(pair.events.there)]).toEqual(['sent', ['connecting>open']]);
  });

  it('refuses whom admit refuses, and more channels than it may accept', async () => {
    for (const [options, code] of [
      [{ admit: ({ remoteAgentId }: { remoteAgentId: string }) => remoteAgentId !== 'mars' }, 'REFUSED'],
      [{ maxAccepted: 0 }, 'MAILBOX_FULL'],
    ] as const) {
      const pair = new ChannelPair({ options });
      await pair.there.listen();
      const refused = rejection(pair.here.openChannel('mars', 'venus'));
      await pair.pass(1);
      expect((await refused).code).toBe(code);
      expect(moves(pair.events.here)).toEqual(['connecting>closed']);
      await pair.there.closeAll();
      expect(pair.leftOver()).toBe(0);
    }
  });

  it('rejects for a local agent that is not hosted, and for a remote one that is nowhere', async () => {
    const pair = new ChannelPair();
    expect((await rejection(pair.here.openChannel('pluto', 'venus'))).code).toBe('AGENT_NOT_FOUND');
    await pair.there.listen();
    const refused = rejection(pair.here.openChannel('mars', 'pluto'));
    await pair.pass(1);
    expect((await refused).code).toBe('AGENT_NOT_FOUND');
  });

  it('is closed when it is not open in time, with the last trouble as the reason', async () => {
    const pair = new ChannelPair({ channel: { openTimeoutMs: 2_000 } });
    const failed = rejection(pair.here.openChannel('mars', 'venus'));
    const [channel] = pair.here.listChannels();
    await pair.pass(1_999);
    expect(channel?.status).toBe('connecting');
    await pair.pass(1);
    expect(await failed).toEqual({
      code: 'CHANNEL_CLOSED',
      message: expect.stringContaining('nobody listens'),
    });
    expect([channel?.status, pair.leftOver()]).toEqual(['closed', 0]);
  });

  it('opens when the other end comes up in time', async () => {
    const pair = new ChannelPair();
    const opening = pair.here.openChannel('mars', 'venus');
    await pair.pass(2_000);
    await pair.there.listen();
    await pair.pass(3_000);
    expect((await opening).status).toBe('open');
  });

  it('does not take a welcome of another agent, and tries again', async () => {
    const pair = new ChannelPair({ channel: { openTimeoutMs: 1_000 } });
    const impostors: RawPeer[] = [];
    await pair.network.transport('there').listen((connection) => impostors.push(new RawPeer(connection)));
    const failed = rejection(pair.here.openChannel('mars', 'venus'));
    await pair.pass(1);
    const { channel } = (impostors[0] as RawPeer).heard[0] as { channel: string };
    impostors[0]?.say(helloOf({ type: 'welcome', channel, from: 'pluto', to: 'mars' }));
    await pair.pass(200);
    expect(impostors.length).toBeGreaterThan(1);
    await pair.pass(1_000);
    expect((await failed).code).toBe('CHANNEL_CLOSED');
  });

  it.each([
    ['no hello at all', [], 'no hello'],
    ['something else', [{ type: 'ping', channel: 'c1' }], 'instead of a hello'],
    ['nonsense', Array.from({ length: 20 }, () => 'nonsense'), 'malformed'],
    ['a frame that is too large', ['x'.repeat(1_048_577 - 1)], 'malformed'],
  ])('turns away a connection that brings %s', async (_what, frames, reason) => {
    const { pair, peer } = await saying(...frames);
    await pair.pass(5_000);
    expect(peer.lostBecause).toBeDefined();
    expect(pair.events.there).toContainEqual(
      expect.objectContaining({ type: 'connection-refused', reason: expect.stringContaining(reason) }),
    );
    expect(pair.there.counts()['connection-refused']).toBe(1);
    await pair.there.closeAll();
    expect(pair.leftOver()).toBe(0);
  });

  it('has the oldest give way when too many have not said hello, so that who comes last gets in', async () => {
    const { pair, peer } = await saying();
    const silent = await Promise.all(
      Array.from({ length: 300 }, () => RawPeer.connect(pair.network.transport(), 'there')),
    );
    const opening = pair.here.openChannel('mars', 'venus');
    await pair.pass(1);
    expect((await opening).status).toBe('open');
    expect([peer, ...silent].map(({ lostBecause }) => lostBecause !== undefined)).toEqual([
      ...Array.from({ length: 238 }, () => true),
      ...Array.from({ length: 63 }, () => false),
    ]);
    expect(pair.there.counts()['connection-refused']).toBe(238);
    await pair.there.closeAll();
    expect(pair.leftOver()).toBe(0);
  });
});

describe('a manager of channels (N-D08)', () => {
  it('keeps both ends of a channel between two agents of its own', async () => {
    const pair = new ChannelPair({ options: { hosts: () => true } });
    await pair.there.listen();
    const opening = pair.there.openChannel('venus', 'earth');
    await pair.pass(1);
    const channel = await opening;
    const [opened, accepted] = pair.there.listChannels();
    expect([opened, pair.there.getChannel(channel.id)]).toEqual([channel, channel]);
    expect(accepted).toMatchObject({ id: channel.id, localAgentId: 'earth', remoteAgentId: 'venus' });
    await pair.there.closeAll();
    expect([pair.there.listChannels(), pair.leftOver()]).toEqual([[], 0]);
  });

  it('can be used again after closeAll', async () => {
    const pair = new ChannelPair();
    await pair.open();
    await Promise.all([pair.here.closeAll(), pair.there.closeAll()]);
    expect((await pair.open()).status).toBe('open');
  });

  it('names the option that is wrong', () => {
    for (const [channel, field] of [
      [{ maxRetries: 4 }, 'channel.maxRetries'],
      [{ heartbeatMs: 10, silenceTimeoutMs: 10 }, 'channel.silenceTimeoutMs'],
      [{ windowSize: 0 }, 'channel.windowSize'],
    ] as const) {
      expect(() => new ChannelPair({ channel })).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining(field) }),
      );
    }
    expect(() => new ChannelPair({ options: { transports: [] } })).toThrow(/transports/);
  });

  it('calls the other listeners when one throws', async () => {
    const pair = new ChannelPair();
    const heard: string[] = [];
    pair.there.onEvent(() => {
      throw new Error('listener');
    });
    pair.there.onEvent(({ type }) => heard.push(type));
    pair.there.onChannel(() => {
      throw new Error('handler');
    });
    const channel = await pair.open();
    expect(channel.status).toBe('open');
    expect(heard).toEqual(['channel-status', 'channel-status', 'handler-failed']);
  });
});
