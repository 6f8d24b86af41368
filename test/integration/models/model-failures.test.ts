import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer } from 'orrery/models';
import { afterAll, describe, expect, it } from 'vitest';
import { type ScriptedReply, startModelServer } from '../../fixtures/model-server.ts';
import { endTeams, modelTeam } from '../../fixtures/model-team.ts';
import { until } from '../../fixtures/until.ts';

afterAll(endTeams);

const luna = (team: { readonly luna: string }) => ({ agent: team.luna, capability: answer });
const count = (text: string) => ({ name: 'words__words_count', args: JSON.stringify({ text }) });
const BUDGET = { tokens: 100_000 };

describe('A provider that turns a request away', () => {
  it.each([429, 503, 529, 408])('with %s is asked again, and paid once', async (status) => {
    const headers = { 'retry-after-ms': '5' };
    await using team = await modelTeam([
      { status, headers },
      { text: 'ok', usage: { input: 7, output: 3 } },
    ]);
    using account = team.system.openAccount(BUDGET);
    expect(await account.ask(luna(team), { prompt: 'x' })).toBe('ok');
    expect(account.spent.tokens).toBe(10);
    const calls = (await team.system.recentEvents()).filter(
      ({ type, agentId }) => type === 'model-call' && agentId === team.luna,
    );
    expect(calls).toMatchObject([
      { attempt: 1, success: false, tokens: 0 },
      { attempt: 2, success: true, tokens: 10 },
    ]);
  });

  it('is never asked again before it says', async () => {
    await using team = await modelTeam([{ status: 429, headers: { 'retry-after': '1.2' } }, { text: 'ok' }]);
    await team.system.ask(luna(team), { prompt: 'x' });
    const [first, second] = team.server.requests;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1_190);
  });

  it('for longer than there is time is not waited for: the asker has the hint', async () => {
    await using team = await modelTeam([{ status: 429, headers: { 'retry-after': '3600' } }]);
    await expect(team.system.ask(luna(team), { prompt: 'x' })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      details: { retryAfterMs: 3_600_000, status: 429, model: 'stub' },
    });
    expect(team.server.requests).toHaveLength(1);
  });

  it('again and again is asked so often and no more', async () => {
    await using team = await modelTeam([{ status: 429, headers: { 'retry-after-ms': '1' } }], {
      limits: { attempts: 3 },
    });
    await expect(team.system.ask(luna(team), { prompt: 'x' })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
    });
    expect(team.server.requests).toHaveLength(3);
  });

  it.each([400, 401, 404, 413])(
    'for good, with %s, is not asked again, and costs nothing',
    async (status) => {
      await using team = await modelTeam([{ status }]);
      using account = team.system.openAccount(BUDGET);
      await expect(account.ask(luna(team), { prompt: 'x' })).rejects.toMatchObject({
        code: 'REMOTE_FAILED',
        message: expect.stringContaining(`HTTP ${status}: scripted ${status}`),
      });
      expect(team.server.requests).toHaveLength(1);
      expect(account.spent.tokens).toBe(0);
    },
  );

  it('that nobody answers for is asked so often, and costs nothing', async () => {
    const server = await startModelServer();
    await server[Symbol.asyncDispose]();
    await using team = await modelTeam([], {
      model: { baseUrl: server.url, model: 'm' },
      limits: { attempts: 2 },
    });
    using account = team.system.openAccount(BUDGET);
    await expect(account.ask(luna(team), { prompt: 'x' })).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      details: { mayHaveArrived: false },
    });
    expect(account.spent.tokens).toBe(0);
  });
});

describe('A provider that may have charged for nothing', () => {
  const FAULTS: readonly [string, ScriptedReply][] = [
    ['fails with 500', { status: 500 }],
    ['fails with 502 that is no JSON', { status: 502, body: '<html>' }],
    ['talks garbage', { raw: 'data: {"choices": [{]\n\n' }],
    ['talks something else', { raw: '{"hello": 1}' }],
    ['cuts its answer', { text: 'on', cuts: true }],
    ['ends in the middle', { text: 'on', ends: true }],
    ['fails in the middle', { text: 'on', streamError: 'overheated' }],
    ['says nothing at all', { raw: '' }],
  ];

  it.each(FAULTS)('%s: it is not asked twice, and the estimate is spent', async (_, fault) => {
    await using team = await modelTeam([fault], { limits: { maxOutputTokens: 100 } });
    using account = team.system.openAccount(BUDGET);
    await expect(account.ask(luna(team), { prompt: 'x' })).rejects.toMatchObject({
      code: expect.stringMatching(/^REMOTE_(FAILED|UNREACHABLE)$/),
    });
    expect(team.server.requests).toHaveLength(1);
    expect(account.spent.tokens).toBeGreaterThan(100);
  });

  it.each(FAULTS.filter(([, { text }]) => text === undefined))(
    '%s: it is asked again where it is said that this may cost twice, and does',
    async (_, fault) => {
      await using team = await modelTeam([fault, { text: 'ok', usage: { input: 7, output: 3 } }], {
        limits: { maxOutputTokens: 100, mayBillTwice: true },
      });
      using account = team.system.openAccount(BUDGET);
      expect(await account.ask(luna(team), { prompt: 'x' })).toBe('ok');
      expect(account.spent.tokens).toBeGreaterThan(110);
    },
  );

  it('outlives all of them', async () => {
    await using team = await modelTeam([...FAULTS.map(([, fault]) => fault), { text: 'still there' }]);
    for (const _ of FAULTS) await team.system.ask(luna(team), { prompt: 'x' }).catch(() => undefined);
    expect(await team.system.ask(luna(team), { prompt: 'x' })).toBe('still there');
    const row = (await team.system.roster()).find(({ id }) => id === team.luna);
    expect(row?.restarts).toBe(0);
  });
});

describe('The end of the work', () => {
  it('ends the request, and what nobody has counted stays spent', async () => {
    await using team = await modelTeam([{ text: 'on', hangs: 'after' }], {
      limits: { maxOutputTokens: 100 },
    });
    using account = team.system.openAccount(BUDGET);
    const stopping = new AbortController();
    const asked = account.ask(luna(team), { prompt: 'x' }, { signal: stopping.signal });
    asked.catch(() => undefined);
    const request = await team.server.came(0);
    stopping.abort();
    await expect(asked).rejects.toMatchObject({ code: 'CANCELLED' });
    await request.closed;
    expect(account.spent.tokens).toBeGreaterThan(100);
  });

  it.each<['before' | 'after']>([['before'], ['after']])(
    'comes at the deadline when the provider hangs (%s its head)',
    async (hangs) => {
      await using team = await modelTeam([{ text: 'half', hangs }]);
      await expect(team.system.ask(luna(team), { prompt: 'x' }, { timeoutMs: 5_000 })).rejects.toMatchObject({
        code: 'DEADLINE_EXCEEDED',
        ...(hangs === 'after' ? { details: { partial: { text: 'half' } } } : {}),
      });
      await (await team.server.came(0)).closed;
      team.server.script([{ text: 'still there' }]);
      expect(await team.system.ask(luna(team), { prompt: 'x' })).toBe('still there');
    },
  );

  it('does not wait for another attempt', async () => {
    await using team = await modelTeam([{ status: 429, headers: { 'retry-after': '10' } }]);
    const stopping = new AbortController();
    const asked = team.system.ask(luna(team), { prompt: 'x' }, { signal: stopping.signal });
    asked.catch(() => undefined);
    await until('it has failed once', async () =>
      (await team.system.recentEvents()).some(
        ({ type, agentId }) => type === 'model-call' && agentId === team.luna,
      ),
    );
    stopping.abort();
    await expect(asked).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(team.server.requests).toHaveLength(1);
  });

  it('near, has a call that hangs ended, and the model hand back what it has', async () => {
    await using team = await modelTeam(
      ({ tools }, at) => {
        if (tools === undefined) return { text: 'two' };
        return at === 0 ? { calls: [count('a b')] } : { hangs: 'before' };
      },
      { tools: ['words.*'], limits: { lastCallMs: 60_000 } },
    );
    const said = await team.system.ask(luna(team), { prompt: 'x' }, { timeoutMs: 8_000 });
    expect(said).toBe('two');
    expect(team.server.requests.at(-1)?.body.messages.at(-1)?.content).toContain('time is running out');
  });
});

describe('What leaves the agent', () => {
  it('is never the key, also where the provider repeats it', async () => {
    const apiKey = 'sk-very-secret';
    await using server = await startModelServer([
      { status: 401, body: { error: { message: `Incorrect API key provided: ${apiKey}` } } },
    ]);
    await using team = await modelTeam([], { model: { baseUrl: server.url, model: 'm', apiKey } });
    const failure: unknown = await team.system
      .ask(luna(team), { prompt: 'x' })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'REMOTE_FAILED', message: expect.stringContaining('[key]') });
    const events = await team.system.recentEvents();
    expect(JSON.stringify([failure, events])).not.toContain(apiKey);
    expect(String((failure as Error).stack)).not.toContain(apiKey);
  });

  it('goes to the endpoint that it is given, and not where that points to', async () => {
    await using other = await startModelServer([{ text: 'mine now' }]);
    const pointing = createServer((_, response) =>
      response.writeHead(307, { location: `${other.url}/chat/completions` }).end(),
    );
    await new Promise<void>((resolve) => pointing.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(pointing.address() as AddressInfo).port}/v1`;
    await using team = await modelTeam([], { model: { baseUrl, model: 'm' }, limits: { attempts: 1 } });
    await expect(team.system.ask(luna(team), { prompt: 'x' })).rejects.toMatchObject({
      code: expect.stringMatching(/^REMOTE_/),
    });
    expect(other.requests).toHaveLength(0);
    pointing.close();
  });
});
