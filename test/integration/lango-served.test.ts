import type { Principal } from 'orrery/admission';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BareLango, requestText } from '../fixtures/lango/bare-libp2p.ts';
import { type ServedLango, servedLango } from '../fixtures/lango/served-team.ts';

const ID = '5f0c8c3e-8d3b-4f6e-9b0a-1c2d3e4f5a6b';
const NOW = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

describe('A bare program of libp2p, and a running system (L-07)', () => {
  let bare: BareLango;
  let team: ServedLango;
  let token: string;
  let principals: Principal[];
  beforeEach(async () => {
    bare = await BareLango.start();
    const tools = [
      'peddler.search',
      'peddler.who',
      'peddler.shout',
      'peddler.fail',
      'peddler.wipe',
      'nobody.*',
    ];
    principals = [];
    team = await servedLango({
      name: 'Bazaar',
      trust: { [bare.did]: { tools, tier: 2, tenant: 'acme', roles: ['buyer'] } },
      rules: [{ name: 'seen', admit: (principal) => void principals.push(principal) }],
    });
    token = await bare.token(team.address);
  });
  afterEach(async () => {
    await bare[Symbol.asyncDispose]();
    await team[Symbol.asyncDispose]();
  });

  it('has a tool run, each byte as the seed has it (L-03, L-04, L-05, L-08, L-18, L-21, L-22, L-23, L-24)', async () => {
    const { text, timestamp, attestationProof } = await bare.say(
      team.address,
      `{"type":"tool_invoke","sessionToken":"${token}","requestId":"${ID}","payload":{"params":{"query":"rug \\u003c 5"},"toolName":"peddler.search"}}\n`,
    );
    expect(timestamp).toMatch(NOW);
    expect(Buffer.from(attestationProof ?? '', 'base64')).toHaveLength(89);
    expect(text).toBe(
      `{"requestId":"${ID}","status":"ok","result":{"found":["rug \\u003c 5 1","rug \\u003c 5 2"],"where":"it lies in [path-redacted]"},"attestationProof":"${attestationProof}","timestamp":"${timestamp}"}\n`,
    );
    expect(await team.system.conservation()).toMatchObject({ inFlight: 0, holds: true });
  });

  it('gets the card, with the tools that it may use (L-01, L-02)', async () => {
    const card = await bare.say(team.address, requestText('agent_card', token, undefined, ID));
    expect(card).toMatchObject({
      requestId: ID,
      status: 'ok',
      result: {
        name: 'Bazaar',
        did: team.serving.did,
        peerId: team.node.peerId,
        multiaddrs: team.node.addresses,
        capabilities: ['peddler.search', 'peddler.who', 'peddler.shout', 'peddler.fail', 'peddler.wipe'],
      },
    });
    const listing = await bare.say(team.address, requestText('capability_query', token));
    expect(listing.result).toEqual(card.result);
  });

  it('is told what is wrong, in the order of the seed (L-06, L-10, L-12, L-15, L-17)', async () => {
    const said = async (text: string) => {
      const { requestId, status, error } = await bare.say(team.address, text);
      return [requestId, status, error];
    };
    expect(await said('{"type":1}\n')).toEqual(['', 'error', 'invalid request']);
    const denied = [ID, 'denied', 'invalid or expired session token'];
    expect(await said(requestText('sing', 'x', {}, ID))).toEqual(denied);
    expect(await said(requestText('sing', token, {}, ID))).toEqual([
      ID,
      'error',
      'unknown request type: sing',
    ]);
    expect(await said(requestText('tool_invoke', token, { params: {} }, ID))).toEqual([
      ID,
      'error',
      'missing toolName in payload',
    ]);
    const loop = { toolName: 'peddler.loop', params: {} };
    expect(await said(requestText('tool_invoke', token, loop, ID))).toEqual([
      ID,
      'denied',
      `no firewall rule allows ${bare.did} the tool peddler.loop`,
    ]);
    const missing = { toolName: 'nobody.sings', params: {} };
    expect(await said(requestText('tool_invoke', token, missing, ID))).toEqual([
      ID,
      'error',
      'There is no tool "nobody.sings"',
    ]);
  });

  it('is somebody outside, whatever it claims: as it was granted, and tainted (C-25, L-13)', async () => {
    const claim = { tier: 0, taint: [], sender: 'system/host' };
    const { result } = await bare.invoke(team.address, token, 'peddler.who', claim);
    expect(result).toEqual({ taint: [`lango:${bare.did}`], params: claim });
    expect(principals).toEqual([
      {
        id: bare.did,
        kind: 'agent',
        roles: ['buyer'],
        tenant: 'acme',
        tier: 2,
        trust: { score: 0, source: 'lango' },
        expiresAtMs: team.serving.sessions.get(bare.did)?.expiresAtMs,
      },
    ]);
    const wiped = await bare.invoke(team.address, token, 'peddler.wipe');
    expect(wiped).toMatchObject({ status: 'error', error: expect.stringContaining('is privileged') });
  });

  it('gives a tool that takes no object its input as `input`', async () => {
    const { result } = await bare.invoke(team.address, token, 'peddler.shout', { input: 'cheap' });
    expect(result).toEqual({ result: 'CHEAP!' });
  });

  it('is told of no text that was thrown, and the operator finds it by the id', async () => {
    const { status, error = '' } = await bare.invoke(team.address, token, 'peddler.fail');
    expect([status, error]).toEqual(['error', expect.stringMatching(/^The agent failed at this \(.+\)$/)]);
    const id = /\((.+)\)$/.exec(error)?.[1];
    const events = await team.system.recentEvents();
    const found = events.find((event) => event.errorId === id);
    expect(found?.reason).toContain('the key is sesame');
  });
});
