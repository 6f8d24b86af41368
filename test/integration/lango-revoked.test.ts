import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BareLango, requestText } from '../fixtures/lango/bare-libp2p.ts';
import { heard, say } from '../fixtures/lango/bare-peer.ts';
import { type ServedLango, servedLango } from '../fixtures/lango/served-team.ts';
import { until } from '../fixtures/until.ts';

const DENIED = { status: 'denied', error: 'invalid or expired session token' };

describe('A DID that is revoked while it is served (L-10)', () => {
  let [alice, bob]: [BareLango, BareLango] = [] as never;
  let team: ServedLango;
  beforeEach(async () => {
    [alice, bob] = [await BareLango.start(), await BareLango.start()];
    const grant = { tools: ['peddler.*'] };
    team = await servedLango({ trust: { [alice.did]: grant, [bob.did]: grant } });
  });
  afterEach(async () => {
    for (const one of [alice, bob, team]) await one[Symbol.asyncDispose]();
  });

  it.each([
    ['by its session', () => team.serving.sessions.invalidate(alice.did, 'manual_revoke')],
    ['by its name', () => team.serving.revoke(alice.did)],
  ])('is cut at once, %s: its stream, what is done for it, and its way back', async (_, revoke) => {
    const token = await alice.token(team.address);
    const others = await bob.token(team.address);
    const waits = async () => (await bob.invoke(team.address, others, 'peddler.waits')).result;
    const stream = await alice.open(team.address, '/lango/a2a/1.0.0');
    say(stream, requestText('tool_invoke', token, { toolName: 'peddler.wait', params: {} }));
    const answer = heard(stream).catch(() => '');
    const { begun } = (await until('it waits', async () => {
      const counts = (await waits()) as { begun: number; cancelled: number };
      return counts.begun > counts.cancelled && counts;
    })) as { begun: number };
    revoke();
    expect(await answer).toBe('');
    expect(stream.status).not.toBe('open');
    await until(
      'it is cancelled',
      async () => ((await waits()) as { cancelled: number }).cancelled === begun,
    );
    expect(await alice.invoke(team.address, token, 'peddler.waits')).toMatchObject(DENIED);
    expect(await alice.handshake(team.address, await alice.challenge())).toEqual({
      error: expect.stringContaining('not admitted'),
    });
    expect(await team.system.conservation()).toMatchObject({ inFlight: 0, holds: true });
  });

  it('is shut out also before it has begun a session', async () => {
    team.serving.revoke(alice.did);
    expect(await alice.handshake(team.address, await alice.challenge())).toHaveProperty('error');
    expect(await bob.token(team.address)).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('A team that is served over Lango no more (L-07)', () => {
  it('lets what is under way come to its end, and answers nobody afterwards', async () => {
    const peer = await BareLango.start();
    const team = await servedLango({ trust: { [peer.did]: { tools: ['peddler.*'] } } });
    try {
      const token = await peer.token(team.address);
      const stream = await peer.open(team.address, '/lango/a2a/1.0.0');
      const text = requestText('tool_invoke', token, { toolName: 'peddler.search', params: { query: 'x' } });
      say(stream, text.slice(0, 20));
      await until('it is served', () => team.serving.openStreams === 1);
      const closed = team.serving.close({ drainMs: 60_000 });
      say(stream, text.slice(20));
      expect(await heard(stream)).toContain('"status":"ok"');
      await stream.close();
      await closed;
      await expect(peer.say(team.address, text)).rejects.toThrow();
    } finally {
      await peer[Symbol.asyncDispose]();
      await team[Symbol.asyncDispose]();
    }
  });
});
