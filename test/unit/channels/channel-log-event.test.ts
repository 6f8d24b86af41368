import { describe, expect, it } from 'vitest';
import { A2AObservability } from '../../../runtime/observe/observability.ts';
import { A2ALogEvent } from '../../../runtime/protocol/log-event.ts';
import { ChannelPair, numbered } from '../../fixtures/channel-pair.ts';
import { helloOf, RawPeer } from '../../fixtures/raw-peer.ts';

/** Two managers whose events go to an observability each. */
function observed() {
  const seen = { here: new A2AObservability(), there: new A2AObservability() };
  const pair = new ChannelPair({
    channel: { retryDelayMs: 100, maxRetries: 1 },
    hereOptions: { log: (event) => seen.here.emit(event) },
    options: { log: (event) => seen.there.emit(event) },
  });
  return { pair, seen };
}

describe('What channels tell an A2AObservability (C-30, N-E07)', () => {
  it('is the status of each end, with both agents and the reason', async () => {
    const { pair, seen } = observed();
    const channel = await pair.open();
    await pair.pass(6_000);
    pair.faulty.drop();
    await pair.pass(10);
    await channel.close();
    await pair.pass(1);
    const about = { type: 'channel-status', channelId: channel.id, timestamp: expect.any(Number) };
    const here = { ...about, agentId: 'mars', targetAgentId: 'venus' };
    expect(seen.here.getRecentEvents()).toEqual([
      { ...here, channelStatus: 'connecting' },
      { ...here, channelStatus: 'open' },
      { ...here, channelStatus: 'reconnecting', reason: 'it was dropped' },
      { ...here, channelStatus: 'open' },
      { ...here, channelStatus: 'closed', reason: 'it was closed here' },
    ]);
    expect(seen.there.getRecentEvents().at(-1)).toEqual({
      ...about,
      agentId: 'venus',
      targetAgentId: 'mars',
      channelStatus: 'closed',
      reason: 'the other end closed it',
    });
    expect(seen.here.getMetrics().errorCount).toBe(0);
  });

  it('is an error for what could not be delivered, and for a handler that throws', async () => {
    const { pair, seen } = observed();
    const channel = await pair.open();
    pair.remote?.onMessage(() => {
      throw new Error('it does not like it');
    });
    pair.faulty.judge = (frame) => (frame.includes('"id":"mars-1"') ? 'lose' : undefined);
    for (let n = 0; n < 2; n++) pair.send(channel, numbered(n));
    await pair.pass(10_000);
    const errors = (events: readonly A2ALogEvent[]) => events.filter(({ type }) => type === 'error');
    expect(errors(seen.here.getRecentEvents())).toMatchObject([
      {
        errorCode: 'DELIVERY_FAILED',
        envelopeId: 'mars-1',
        channelId: channel.id,
        agentId: 'mars',
        success: false,
      },
    ]);
    expect(errors(seen.there.getRecentEvents())).toMatchObject([
      { envelopeId: 'mars-0', reason: 'it does not like it', agentId: 'venus', success: false },
    ]);
    expect([seen.here.getMetrics().errorCount, seen.there.getMetrics().errorCount]).toEqual([1, 1]);
  });

  it('is a matter of security for who is not let in, or speaks in the name of another', async () => {
    const { pair, seen } = observed();
    await pair.there.listen();
    const transport = pair.network.transport();
    const sayings = [[helloOf({ to: 'pluto' })], [{ type: 'ping', channel: 'c1' }], [helloOf(), 'nonsense']];
    for (const frames of sayings) {
      const peer = await RawPeer.connect(transport, 'there');
      for (const frame of frames) peer.say(frame);
      await pair.pass(1);
      peer.say({ type: 'data', channel: 'c2', sequence: 0, envelope: numbered(0) });
      await pair.pass(1);
    }
    const errors = seen.there.getRecentEvents().filter(({ type }) => type === 'error');
    expect(errors).toMatchObject([
      { errorCode: 'AGENT_NOT_FOUND', security: true, targetAgentId: 'mars', channelId: 'c1' },
      { errorCode: 'REFUSED', security: true },
      { reason: expect.stringContaining('malformed') },
      { reason: expect.stringContaining('forged'), security: true },
    ]);
    expect(errors[2]?.security).toBeUndefined();
    for (const event of seen.there.getRecentEvents()) expect(A2ALogEvent.parse(event)).toEqual(event);
  });
});
