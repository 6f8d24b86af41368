import { slidingWindow } from 'orrery/admission';
import { systemSeams } from 'orrery';
import { SessionStore } from 'orrery/lango';
import { afterEach, describe, expect, it } from 'vitest';
import { BareLango } from '../fixtures/lango/bare-libp2p.ts';
import { type ServedLango, servedLango } from '../fixtures/lango/served-team.ts';
import { until } from '../fixtures/until.ts';

const DENIED = { status: 'denied', error: 'invalid or expired session token' };
const SEARCH = 'peddler.search';

describe('A peer that a running system does not let in (L-10, L-12, L-15, L-16, C-25)', () => {
  const open: AsyncDisposable[] = [];
  const keep = <Kept extends AsyncDisposable>(kept: Kept): Kept => {
    open.push(kept);
    return kept;
  };
  afterEach(async () => {
    for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
  });
  const someone = async (): Promise<BareLango> => keep(await BareLango.start());
  const team = async (
    peer: BareLango,
    options: Partial<Parameters<typeof servedLango>[0]> = {},
    start: Parameters<typeof servedLango>[1] = {},
  ): Promise<ServedLango> =>
    keep(await servedLango({ trust: { [peer.did]: { tools: [SEARCH] } }, ...options }, start));
  const nothingRan = async ({ system }: ServedLango): Promise<void> => {
    expect(await system.conservation()).toMatchObject({ accepted: 0, holds: true });
  };
  const told = async ({ system }: ServedLango, did: string, errorCode: string): Promise<boolean> =>
    (await system.recentEvents()).some(
      (event) => event.security === true && event.sender === did && event.errorCode === errorCode,
    );

  it('has no session', async () => {
    const peer = await someone();
    const served = await team(peer);
    expect(await peer.invoke(served.address, '', SEARCH, { query: 'x' })).toMatchObject(DENIED);
    await nothingRan(served);
    expect(await told(served, peer.did, 'UNAUTHENTICATED')).toBe(true);
  });

  it('has the token of another, who is served all the same', async () => {
    const [alice, thief] = [await someone(), await someone()];
    const trust = { [alice.did]: { tools: [SEARCH] }, [thief.did]: { tools: [SEARCH] } };
    const served = await team(alice, { trust });
    const token = await alice.token(served.address);
    await thief.token(served.address);
    expect(await thief.invoke(served.address, token, SEARCH, { query: 'x' })).toMatchObject(DENIED);
    expect(await alice.invoke(served.address, token, SEARCH, { query: 'x' })).toMatchObject({ status: 'ok' });
  });

  it('has a token whose time is over, and its session is removed (L-14)', async () => {
    const peer = await someone();
    const sessions = new SessionStore({ ttlMs: 1 }, systemSeams());
    const served = await team(peer, { sessions });
    const token = await peer.token(served.address);
    await until('the session is over', () => sessions.get(peer.did) === undefined);
    expect(await peer.invoke(served.address, token, SEARCH, { query: 'x' })).toMatchObject(DENIED);
    expect(sessions.remove(peer.did)).toBe(false);
    await nothingRan(served);
  });

  it('is not trusted, or proves a DID of somebody else, or too late, or not at all', async () => {
    const [peer, stranger] = [await someone(), await someone()];
    const { address } = await team(peer);
    const refusal = async (from: BareLango, challenge: Awaited<ReturnType<BareLango['challenge']>>) =>
      (await from.handshake(address, challenge))['error'];
    expect(await refusal(stranger, await stranger.challenge())).toContain('not admitted');
    const now = Math.floor(Date.now() / 1_000);
    expect(await refusal(stranger, await stranger.challenge(now, peer.did))).toContain(
      'not that of the peer',
    );
    expect(await refusal(peer, await peer.challenge(now - 400))).toContain('stale');
    expect(await refusal(peer, await peer.challenge(now + 100))).toContain('future');
    const { nonce } = await peer.challenge();
    expect(await refusal(peer, { ...(await peer.challenge()), nonce })).toContain('signature is not valid');
  });

  it('sends a challenge a second time, or one that it was sent by another', async () => {
    const [peer, thief] = [await someone(), await someone()];
    const { address } = await team(peer, { trust: { '*': { tools: [SEARCH] } } });
    const challenge = await peer.challenge();
    expect(await peer.handshake(address, challenge)).toHaveProperty('token');
    expect(await peer.handshake(address, challenge)).toEqual({
      error: expect.stringContaining('the nonce was used before'),
    });
    expect(await thief.handshake(address, challenge)).toEqual({
      error: expect.stringContaining('not that of the peer'),
    });
  });

  it('asks for a tool that it is not granted, by whichever name', async () => {
    const peer = await someone();
    const served = await team(peer, { trust: { [peer.did]: { tools: ['peddler__*'] } } });
    const token = await peer.token(served.address);
    expect(await peer.invoke(served.address, token, SEARCH, { query: 'x' })).toMatchObject({
      status: 'denied',
    });
    expect(await peer.invoke(served.address, token, 'peddler__search', { query: 'x' })).toMatchObject({
      status: 'error',
      error: 'There is no tool "peddler__search"',
    });
    await nothingRan(served);
    expect(await told(served, peer.did, 'NOT_PERMITTED')).toBe(true);
  });

  it('is in a sandbox from which nobody is reached', async () => {
    const peer = await someone();
    const trust = { [peer.did]: { tools: [SEARCH], sandboxId: 'quarry' } };
    const served = await team(peer, { trust });
    const token = await peer.token(served.address);
    expect(await peer.invoke(served.address, token, SEARCH, { query: 'x' })).toMatchObject({
      status: 'error',
      error: expect.stringContaining('quarry'),
    });
    await nothingRan(served);
  });

  it('asks too often, for a rule of admission as for a gateway', async () => {
    const peer = await someone();
    const rules = [slidingWindow({ requests: 1 }, systemSeams())];
    const served = await team(peer, { rules });
    const token = await peer.token(served.address);
    expect(await peer.invoke(served.address, token, SEARCH, { query: 'x' })).toMatchObject({ status: 'ok' });
    const { status, error } = await peer.invoke(served.address, token, SEARCH, { query: 'x' });
    expect([status, error]).toEqual(['denied', expect.stringMatching(/requests/)]);
  });
});
