import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chainRpc, kycLevelOf } from '../../../../../gateway/xpr/chain/chain-rpc.ts';
import { systemSeams } from '../../../../../runtime/protocol/system-seams.ts';
import { rejection } from '../../../../fixtures/until.ts';

const { clock } = systemSeams();

/** A node of the chain: what it answers, by method or table. */
const answers = new Map<string, { status?: number; body: unknown } | 'silence'>();
const asked: { path: string; body: Record<string, unknown> }[] = [];
let server: Server;
let endpoint: string;
beforeEach(async () => {
  answers.clear();
  asked.length = 0;
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      const body = JSON.parse(text) as Record<string, unknown>;
      asked.push({ path: request.url ?? '', body });
      const answer = answers.get(String(body['table'] ?? 'account')) ?? { body: { rows: [] } };
      if (answer === 'silence') return;
      const said = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
      response.writeHead(answer.status ?? 200, { location: 'http://127.0.0.1:1/' }).end(said);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const auth = (threshold: number, ...keys: [string, number][]) => ({
  threshold,
  keys: keys.map(([key, weight]) => ({ key, weight })),
});

describe('What a node of the chain tells of accounts', () => {
  it('are the keys that alone are enough to act for it', async () => {
    const permissions = [
      { perm_name: 'owner', required_auth: auth(1, ['PUB_K1_owner', 1]) },
      { perm_name: 'active', required_auth: auth(2, ['PUB_K1_half', 1], ['PUB_K1_whole', 2]) },
    ];
    answers.set('account', { body: { permissions } });
    expect(await chainRpc({ endpoint }, { clock }).activeKeys('alice')).toEqual(['PUB_K1_whole']);
    expect(asked).toEqual([{ path: '/v1/chain/get_account', body: { account_name: 'alice' } }]);
  });

  it('are no keys of an account that there is not', async () => {
    const body = {
      code: 500,
      error: { what: 'unknown key', details: [{ message: 'unknown key (...): nobody' }] },
    };
    answers.set('account', { status: 500, body });
    expect(await chainRpc({ endpoint }, { clock }).activeKeys('nobody')).toEqual([]);
  });

  it('is the agent, with its owner’s identification and its reviews', async () => {
    const row = {
      account: 'alice',
      owner: 'carol',
      name: 'ALICE',
      description: 'Analyses',
      endpoint: 'https://alice.example',
      protocol: 'https',
      capabilities: '["compute","ai"]',
      active: 1,
      stake: '500.0000 XPR',
      registered_at: '1704067200',
    };
    answers.set('agents', { body: { rows: [row] } });
    answers.set('agentscores', { body: { rows: [{ avg_score: '8750' }] } });
    answers.set('usersinfo', { body: { rows: [{ verified: 1, kyc: [{ kyc_level: 'a,b,c,d' }] }] } });
    expect(await chainRpc({ endpoint }, { clock }).agent('alice')).toEqual({
      account: 'alice',
      owner: 'carol',
      name: 'ALICE',
      description: 'Analyses',
      endpoint: 'https://alice.example',
      protocol: 'https',
      capabilities: ['compute', 'ai'],
      isActive: true,
      stake: 500,
      rating: 8_750,
      kycLevel: 2,
      registeredAtMs: 1_704_067_200_000,
    });
    expect(asked.map(({ body }) => [body['code'], body['table'], body['lower_bound']])).toEqual([
      ['agentcore', 'agents', 'alice'],
      ['agentfeed', 'agentscores', 'alice'],
      ['eosio.proton', 'usersinfo', 'carol'],
    ]);
  });

  it('is an agent that nobody has reviewed or identified, or none', async () => {
    const rpc = chainRpc({ endpoint, tables: { agents: 'other::list' } }, { clock });
    expect(await rpc.agent('alice')).toBeUndefined();
    answers.set('list', {
      body: { rows: [{ account: 'alice', active: false, capabilities: 'not a list', stake: 5_000 }] },
    });
    expect(await rpc.agent('alice')).toMatchObject({
      owner: 'alice',
      isActive: false,
      capabilities: [],
      stake: 0.5,
      rating: 0,
      kycLevel: 0,
    });
  });

  it('is a job in escrow, in whole coins and with what it is to bring (X-48)', async () => {
    const rpc = chainRpc({ endpoint }, { clock });
    expect(await rpc.job(42)).toBeUndefined();
    const row = {
      id: '42',
      client: 'alice',
      agent: 'bob',
      title: 'Report',
      description: 'Numbers',
      deliverables: '["a.pdf","b.csv"]',
      amount: '1005000',
      deadline: '1704153600',
      state: 1,
    };
    answers.set('jobs', { body: { rows: [row] } });
    expect(await rpc.job(42)).toEqual({
      id: 42,
      client: 'alice',
      agent: 'bob',
      title: 'Report',
      description: 'Numbers',
      deliverables: ['a.pdf', 'b.csv'],
      amount: 100.5,
      deadlineAtMs: 1_704_153_600_000,
    });
    expect(asked[0]?.body).toMatchObject({ code: 'agentescrow', table: 'jobs', lower_bound: '42' });
    answers.set('jobs', {
      body: { rows: [{ deliverables: 'A report', amount: '7.5000 XPR', deadline: 0 }] },
    });
    expect(await rpc.job(42)).toMatchObject({
      deliverables: ['A report'],
      amount: 7.5,
      deadlineAtMs: undefined,
    });
  });

  it.each<[string, { status?: number; body: unknown } | 'silence']>([
    ['an error', { status: 503, body: 'overloaded' }],
    ['what is no JSON', { body: '<html>' }],
    ['what is no account', { body: { permissions: 'all' } }],
    ['a redirection', { status: 302, body: '' }],
    ['far too much', { body: { permissions: [], more: 'x'.repeat(1 << 21) } }],
    ['nothing', 'silence'],
  ])('lets nobody in when it is %s', async (_, answer) => {
    answers.set('account', answer);
    const rpc = chainRpc({ endpoint, timeoutMs: 100 }, { clock });
    const failed = await rejection(rpc.activeKeys('alice'));
    expect(failed.code).toBe('REFUSED');
    expect(failed.message).toContain('get_account');
  });

  it('is asked no more at once than it may be', async () => {
    answers.set('account', 'silence');
    const rpc = chainRpc({ endpoint, timeoutMs: 100, atOnce: 2 }, { clock });
    const [one, two, three] = await Promise.all(
      ['a', 'b', 'c'].map((account) => rejection(rpc.activeKeys(account))),
    );
    expect(asked).toHaveLength(2);
    expect(one?.message).toContain('100 ms');
    expect(two?.message).toContain('100 ms');
    expect(three?.message).toContain('2 questions are open');
    answers.set('account', { body: { permissions: [] } });
    expect(await rpc.activeKeys('alice')).toEqual([]);
  });

  it('is asked at a URL', () => {
    expect(() => chainRpc({ endpoint: 'nowhere' }, { clock })).toThrow('endpoint');
  });
});

describe('How far a person is identified', () => {
  it.each([
    [[], false, 0],
    [[], true, 1],
    [['firstname,lastname'], false, 1],
    [['a,b,c,d,e,f,g'], false, 3],
    [['provider:2'], false, 2],
    [['provider:9', 'a'], true, 3],
  ])('by claims %j, verified %s: to level %i', (claims, verified, level) => {
    const kyc = claims.map((kyc_level) => ({ kyc_level }));
    expect(kycLevelOf({ kyc, verified })).toBe(level);
  });
});
