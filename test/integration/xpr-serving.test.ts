import { startSystem, systemSeams } from 'orrery';
import { serve } from 'orrery/gateway';
import { A2AClient, xprBinding, xprServeOptions } from 'orrery/xpr';
import { describe, expect, it } from 'vitest';
import { signRequest } from '../../gateway/xpr/chain/sign-request.ts';
import { ALICES_KEY, BOBS_KEY } from '../fixtures/k1-keys.ts';
import { until } from '../fixtures/until.ts';
import { call, post, refusal, textOf, tool } from '../fixtures/xpr-calls.ts';
import { marsWith } from '../fixtures/xpr-gateway.ts';
import { xprTrials } from '../fixtures/xpr-trials.ts';

const trials = xprTrials();

describe('The card of a system with an XPR account', () => {
  it('is public, the same at both paths, and says what the chain says of it now (X-01, X-02, X-03, X-04, X-05, C-01)', async () => {
    const trial = await trials.open({ account: 'myagent', agents: { mars: 'alice' } });
    const { node, clock, served } = trial;
    node.agents.set('myagent', {
      account: 'myagent',
      owner: 'alice',
      name: 'My Agent',
      description: 'Processes data analysis jobs',
      endpoint: 'https://agent.example.com',
      protocol: 'https',
      capabilities: '["compute","ai"]',
      registered_at: 1_704_067_200,
    });
    node.kycLevels.set('alice', 2);
    const get = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${served.url}${path}`, { headers });
    const first = await get('/.well-known/agent.json');
    expect(first.status).toBe(200);
    const card = (await first.json()) as Record<string, unknown>;
    expect(card).toMatchObject({
      name: 'My Agent',
      description: 'Processes data analysis jobs',
      url: 'https://agent.example.com',
      version: expect.any(String),
      capabilities: {
        streaming: expect.any(Boolean),
        pushNotifications: expect.any(Boolean),
        stateTransitionHistory: expect.any(Boolean),
      },
      defaultInputModes: expect.arrayContaining(['text']),
      defaultOutputModes: expect.arrayContaining(['text']),
      'xpr:account': 'myagent',
      'xpr:protocol': 'https',
      'xpr:trustScore': 20,
      'xpr:kycLevel': 2,
      'xpr:registeredAt': 1_704_067_200,
      'xpr:owner': 'alice',
    });
    const skill = (card['skills'] as object[])[0];
    expect(skill).toMatchObject({ id: 'echo.say', tags: expect.arrayContaining(['compute', 'ai']) });
    expect(skill).toMatchObject({ name: expect.any(String), description: expect.any(String) });
    expect(await (await get('/.well-known/agent-card.json')).json()).toEqual(card);
    expect(await trial.client('alice', ALICES_KEY).getAgentCard()).toMatchObject({
      'xpr:account': 'myagent',
    });
    expect(await (await get('/mars/.well-known/agent.json')).json()).toMatchObject({
      'xpr:account': 'alice',
    });

    const etag = first.headers.get('etag') ?? '';
    const unchanged = await get('/.well-known/agent.json', { 'if-none-match': etag });
    expect(unchanged.status).toBe(304);
    node.kycLevels.set('alice', 3);
    clock.advance(60_000);
    const later = await until('the card is another one', async () => {
      const response = await get('/.well-known/agent.json', { 'if-none-match': etag });
      return response.status === 200 && response.json();
    });
    expect(later).toMatchObject({ 'xpr:kycLevel': 3, 'xpr:trustScore': 30 });
  });

  it('is that of the system where it has no account', async () => {
    const { served } = trials.usual;
    const card = (await (await fetch(`${served.url}/.well-known/agent.json`)).json()) as object;
    expect(Object.keys(card).filter((name) => name.startsWith('xpr:'))).toEqual([]);
  });
});

describe('A system that is served as the variables of XPR’s deployments ask for', () => {
  it('keeps to each of them (X-17, X-19, X-22, X-24)', async () => {
    const { node } = trials.usual;
    const system = await startSystem({
      agents: [marsWith(async () => undefined)],
      workers: 1,
      spareThread: false,
    });
    const options = xprServeOptions({
      XPR_RPC_ENDPOINT: node.endpoint,
      XPR_ACCOUNT: 'alice',
      A2A_RATE_LIMIT: '2',
      A2A_TOOL_MODE: 'readonly',
      A2A_MIN_KYC_LEVEL: '1',
      AGENT_MAX_TURNS: '1',
      MAX_CONCURRENT_RUNS: '2',
      OPENCLAW_HOOK_TOKEN: 'a-token-that-is-long',
    });
    expect(options.tasks).toEqual({ limits: { turns: 2 } });
    await using served = await serve(system, { entry: 'mars', ...options });
    node.kycLevels.set('alice', 1);
    try {
      const alice = new A2AClient(served.url, { callerAccount: 'alice', signingKey: ALICES_KEY });
      expect(await alice.getAgentCard()).toMatchObject({ 'xpr:account': 'alice', 'xpr:kycLevel': 1 });
      expect(textOf(await alice.sendMessage(tool('read')))).toBe('read: x');
      expect(await refusal(alice.sendMessage(tool('say')))).toMatchObject({
        data: { reason: 'PERMISSION_DENIED' },
      });
      expect(await refusal(alice.sendMessage(tool('read')))).toMatchObject({
        data: { reason: 'RATE_LIMITED' },
      });
      const bob = new A2AClient(served.url, { callerAccount: 'bob', signingKey: BOBS_KEY });
      expect(await refusal(bob.sendMessage(tool('read')))).toMatchObject({
        data: { reason: 'PERMISSION_DENIED' },
      });
      const nobody = new A2AClient(served.url);
      expect(await refusal(nobody.sendMessage(tool('read')))).toMatchObject({
        data: { reason: 'UNAUTHENTICATED' },
      });
      const hook = await fetch(`${served.url}/a2a`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer a-token-that-is-long' },
        body: JSON.stringify(call('message/send', { message: tool('read') })),
      });
      expect(await hook.json()).toHaveProperty('result.status.state', 'completed');

      // The other protocols ask for a signature too, and one that is used up here is used up there.
      const said = JSON.stringify(call('tasks/get', { id: 'none' }));
      const rpc = (proof: Record<string, string>) =>
        fetch(`${served.url}/rpc`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...proof },
          body: said,
        });
      expect((await rpc({})).status).toBe(401);
      const bytes = new TextEncoder().encode(said);
      const atMs = systemSeams().clock.now();
      const proof = signRequest({ account: 'bob', signingKey: BOBS_KEY, body: bytes, atMs });
      expect((await rpc(proof)).status).toBe(200);
      expect((await rpc(proof)).status).toBe(401);
      const replayed = await post({ ...trials.usual, served }, said, { signing: false, headers: proof });
      expect(replayed.body.error).toMatchObject({ code: -32_000, data: { reason: 'UNAUTHENTICATED' } });
    } finally {
      node.kycLevels.delete('alice');
      await system.stop();
    }
  });

  it('asks for rate and trust over all protocols, where that is wanted (C-08)', async () => {
    const { node } = trials.usual;
    const system = await startSystem({
      agents: [marsWith(async () => undefined)],
      workers: 1,
      spareThread: false,
    });
    const env = { XPR_RPC_ENDPOINT: node.endpoint, A2A_RATE_LIMIT: '1', A2A_MIN_KYC_LEVEL: '1' };
    await using open = await serve(system, { entry: 'mars', ...xprServeOptions(env) });
    const { tasks: _, ...gates } = xprServeOptions(env, { gatesAll: true });
    await using gated = await serve(system, { entry: 'mars', ...gates });
    node.kycLevels.set('alice', 1);
    let id = 0;
    const statusFor = async (url: string, account: string, signingKey: string): Promise<number> => {
      const said = JSON.stringify({ ...call('tasks/get', { id: 'none' }), id: `gate-${id++}` });
      const body = new TextEncoder().encode(said);
      const proof = signRequest({ account, signingKey, body, atMs: systemSeams().clock.now() });
      const headers = { 'content-type': 'application/json', ...proof };
      return (await fetch(`${url}/rpc`, { method: 'POST', headers, body: said })).status;
    };
    try {
      expect(await statusFor(open.url, 'bob', BOBS_KEY)).toBe(200);
      expect(await statusFor(gated.url, 'bob', BOBS_KEY)).toBe(403);
      expect(await statusFor(gated.url, 'alice', ALICES_KEY)).toBe(200);
      expect(await statusFor(gated.url, 'alice', ALICES_KEY)).toBe(429);
    } finally {
      node.kycLevels.delete('alice');
      await system.stop();
    }
  });

  it('needs to know whom to ask about accounts', () => {
    expect(() => xprServeOptions({})).toThrow('XPR_RPC_ENDPOINT');
    expect(() => xprBinding({} as never)).toThrow('xprBinding.accounts is undefined, expected what knows');
  });

  it('takes no gate for one that is misspelt', () => {
    const env = { XPR_RPC_ENDPOINT: 'http://127.0.0.1:1' };
    expect(() => xprServeOptions(env, { gateAll: true } as never)).toThrow(
      'xprServeOptions.gateAll is true, expected no option of this name',
    );
  });
});
