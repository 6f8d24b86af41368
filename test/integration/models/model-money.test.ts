import { answer, estimateTokens } from 'orrery/models';
import { afterAll, describe, expect, it } from 'vitest';
import type { ScriptedUsage } from '../../fixtures/model-server.ts';
import { endTeams, modelTeam } from '../../fixtures/model-team.ts';
import { until } from '../../fixtures/until.ts';

afterAll(endTeams);

const luna = (team: { readonly luna: string }) => ({ agent: team.luna, capability: answer });
const PRICES = { inputPerMillion: 2, outputPerMillion: 10, cachedInputPerMillion: 0.5 };
const count = (text: string) => ({ name: 'words__words_count', args: JSON.stringify({ text }) });
/** Each character a token. */
const countTokens = (text: string): number => text.length;

describe('What a call of a model costs (F-04)', () => {
  it('is taken before the call as estimated, and settled after it as counted', async () => {
    const gate = Promise.withResolvers<void>();
    await using team = await modelTeam(
      [{ text: 'ok', gate: gate.promise, usage: { input: 100, output: 20, cached: 40 } }],
      { prices: PRICES, limits: { maxOutputTokens: 500 } },
    );
    using account = team.system.openAccount({ tokens: 10_000, costUsd: 1 });
    const asked = account.ask(luna(team), { prompt: 'x' });
    await team.server.came(0);
    const during = account.spent;
    // Instructions, the prompt and what is around it, and the most that may be answered.
    expect(during.tokens).toBeGreaterThan(500);
    expect(during.tokens).toBeLessThan(600);
    expect(during.costUsd).toBeGreaterThan(500 * 10e-6);
    gate.resolve();
    expect(await asked).toBe('ok');
    await until('it is settled', () => account.spent.tokens === 120);
    expect(account.spent.costUsd).toBeCloseTo((60 * 2 + 40 * 0.5 + 20 * 10) / 1e6, 9);
  });

  it.each<[string, ScriptedUsage]>([
    ['says nothing', null],
    ['counts no input', { input: 0, output: 3 }],
    ['counts less than nothing', { input: 5, output: -3 }],
    ['counts parts of tokens', { input: 5.5, output: 3 }],
    ['counts more than there can be', { input: 1e15, output: 3 }],
  ])('stays as estimated where the provider %s', async (_, usage) => {
    await using team = await modelTeam([{ text: 'ok', usage }], {
      countTokens,
      limits: { maxOutputTokens: 500 },
    });
    using account = team.system.openAccount({ tokens: 10_000 });
    expect(await account.ask(luna(team), { prompt: 'x' })).toBe('ok');
    expect(account.spent.tokens).toBeGreaterThan(500);
    expect(account.spent.tokens).toBeLessThan(600);
  });

  it('is spent too where it came out higher than estimated, as far as there is anything', async () => {
    await using team = await modelTeam([{ text: 'ok', usage: { input: 900, output: 300 } }], {
      limits: { maxOutputTokens: 100 },
    });
    using account = team.system.openAccount({ tokens: 10_000 });
    expect(await account.ask(luna(team), { prompt: 'x' })).toBe('ok');
    expect(account.spent.tokens).toBe(1_200);
    using small = team.system.openAccount({ tokens: 500 });
    expect(await small.ask(luna(team), { prompt: 'x' })).toBe('ok');
    expect(small.left.tokens).toBe(0);
  });

  it('is refused before the call, never after it: nothing is sent', async () => {
    await using team = await modelTeam([{ text: 'ok' }]);
    await expect(
      team.system.ask(luna(team), { prompt: 'x' }, { budget: { tokens: 40 } }),
    ).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED', details: { left: { tokens: 40 } } });
    expect(team.server.requests).toHaveLength(0);
  });

  it('is refused in dollars too', async () => {
    await using team = await modelTeam([{ text: 'ok' }], { prices: PRICES, tools: ['words.*'] });
    await expect(
      team.system.ask(luna(team), { prompt: 'x' }, { budget: { costUsd: 0.0001 } }),
    ).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    expect(team.server.requests).toHaveLength(0);
  });

  it('is not guessed: dollars are not spent on a model without prices', async () => {
    await using team = await modelTeam([{ text: 'ok' }]);
    await expect(
      team.system.ask(luna(team), { prompt: 'x' }, { budget: { costUsd: 5 } }),
    ).rejects.toMatchObject({ code: 'REFUSED', message: expect.stringContaining('prices') });
    expect(team.server.requests).toHaveLength(0);
  });

  it('leaves less room for the answer where there is less to spend', async () => {
    await using team = await modelTeam([{ text: 'ok' }], { countTokens });
    await team.system.ask(luna(team), { prompt: 'x' }, { budget: { tokens: 700 } });
    expect(team.server.requests[0]?.body.max_tokens).toBe(512);
  });
});

describe('A budget that is nearly used up', () => {
  const tools = ['words.words.count'];
  const limits = { maxSteps: 50, maxOutputTokens: 200, lastOutputTokens: 100 };

  it('has the model hand back what it has, out of what was kept for that', async () => {
    await using team = await modelTeam(
      ({ tools: offered }, at) =>
        offered === undefined
          ? { text: 'so far: two', usage: null }
          : { text: 'hm', calls: [count(`word ${at}`)], usage: null },
      { countTokens, tools, limits },
    );
    using account = team.system.openAccount({ tokens: 6_000 });
    expect(await account.ask(luna(team), { prompt: 'x' })).toBe('so far: two');
    const bodies = team.server.requests.map(({ body }) => body);
    expect(bodies.length).toBeGreaterThan(2);
    expect(bodies.length).toBeLessThan(50);
    expect(bodies.at(-1)).toMatchObject({ max_tokens: 100 });
    expect(bodies.at(-1)?.tools).toBeUndefined();
    expect(bodies.at(-1)?.messages.at(-1)?.content).toContain('the budget is nearly used up');
    expect(account.spent.tokens).toBeLessThanOrEqual(6_000);
  });

  it('keeps that from the agents whose tools it calls, who draw on the same account', async () => {
    await using team = await modelTeam(
      ({ tools: offered }) =>
        offered === undefined
          ? { text: 'that is all', usage: { input: 50, output: 10 } }
          : { calls: [{ name: 'words__words_spend', args: '{}' }], usage: { input: 50, output: 10 } },
      { countTokens, tools: ['words.words.spend'], limits },
    );
    using account = team.system.openAccount({ tokens: 4_000 });
    expect(await account.ask(luna(team), { prompt: 'x' })).toBe('that is all');
    const last = team.server.requests[1]?.body;
    expect(team.server.requests).toHaveLength(2);
    const taken = Number(last?.messages.find(({ role }) => role === 'tool')?.content);
    expect(taken).toBeGreaterThan(1_000);
    expect(last).toMatchObject({ max_tokens: 100 });
    expect(account.spent.tokens).toBe(taken + 120);
  });

  it('has one last call at once where it was never enough for more', async () => {
    await using team = await modelTeam([{ text: 'short' }], { countTokens, tools, limits });
    expect(await team.system.ask(luna(team), { prompt: 'x' }, { budget: { tokens: 450 } })).toBe('short');
    expect(team.server.requests).toHaveLength(1);
    expect(team.server.requests[0]?.body.tools).toBeUndefined();
  });
});

describe('The estimate of tokens', () => {
  it('is not less than what vocabularies of today come to', () => {
    expect(estimateTokens('')).toBe(0);
    expect(estimateTokens('The quick brown fox')).toBe(7); // five in most
    expect(estimateTokens('日本')).toBe(6);
    expect(estimateTokens('aé')).toBe(3);
  });
});
