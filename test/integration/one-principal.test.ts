import { startSystem, systemSeams } from 'orrery';
import {
  type AdmissionRule,
  apiKeys,
  type Authenticator,
  newApiKey,
  Principal,
  sharedToken,
} from 'orrery/admission';
import { signRequest, xprSignature } from 'orrery/admission/xpr';
import { serve } from 'orrery/gateway';
import { langoNode, serveLango } from 'orrery/lango';
import { expect, it } from 'vitest';
import { publicKeyOfPrivate } from '../../gateway/xpr/chain/k1-signature.ts';
import { ALICES_KEY } from '../fixtures/k1-keys.ts';
import { BareLango } from '../fixtures/lango/bare-libp2p.ts';
import { agent } from '../fixtures/until.ts';

const { clock } = systemSeams();

/** AgentMesh's KNOCK, as an authenticator of one's own: who is on the list is let in by the name that it knocks with. */
const knock: Authenticator = {
  scheme: 'Knock',
  authenticate: async ({ headers }) => {
    const amid = headers.get('x-knock');
    if (amid === null) return undefined;
    const trust = { score: 0.5, source: 'knock' };
    return {
      id: `amid:${amid}`,
      kind: 'agent',
      roles: [],
      tier: 3,
      trust,
      expiresAtMs: clock.now() + 60_000,
    };
  },
};

it('Callers are one kind of principal before one rule, however they have proved who they are (C-25)', async () => {
  const seen: Principal[] = [];
  const rules: AdmissionRule[] = [{ name: 'seen', admit: (principal) => void seen.push(principal) }];
  const { key, record } = newApiKey({ kind: 'service', tenant: 'acme', roles: ['reader'] });
  const secret = 'a-token-that-nobody-guesses';
  const user: Principal = {
    ...{ id: 'user:olive', kind: 'user', roles: [], tier: 3 },
    trust: { score: 1, source: 'token' },
  };
  const accounts = { activeKeys: async () => [publicKeyOfPrivate(ALICES_KEY)] };
  const authenticators = [
    apiKeys([record], { clock }),
    sharedToken(secret, user),
    xprSignature({}, { clock, accounts }),
    knock,
  ];
  await using node = await langoNode();
  await using peer = await BareLango.start();
  await using system = await startSystem({ agents: [agent('peddler')], workers: 1, spareThread: false });
  const { url } = await serve(system, { authenticators, rules });
  await serveLango(system, { node, rules, trust: { [peer.did]: { tools: ['peddler.search'] } } });

  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} });
  const say = (headers: Readonly<Record<string, string>>) =>
    fetch(`${url}/peddler/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
      body,
    });
  const signed = signRequest({
    account: 'alice',
    signingKey: ALICES_KEY,
    atMs: clock.now(),
    body: Buffer.from(body),
  });
  for (const headers of [
    { 'x-api-key': key },
    { authorization: `Bearer ${secret}` },
    signed,
    { 'x-knock': 'mesh1' },
  ])
    expect((await say(headers as Record<string, string>)).status).toBe(200);
  const [address = ''] = node.addresses;
  const token = await peer.token(address);
  expect(await peer.invoke(address, token, 'peddler.search', { query: 'x' })).toMatchObject({ status: 'ok' });

  expect(seen.map((principal) => Principal.parse(principal))).toEqual(seen);
  expect(seen.map(({ id }) => id)).toEqual([
    expect.stringMatching(/^key:/),
    'user:olive',
    'xpr:alice',
    'amid:mesh1',
    peer.did,
  ]);
});
