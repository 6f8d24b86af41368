import type { Account } from 'orrery';
import { answer } from 'orrery/models';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { ScriptedReply, ScriptedUsage } from '../fixtures/model-server.ts';
import { endTeams, modelTeam } from '../fixtures/model-team.ts';

afterAll(endTeams);

const PRICES = { inputPerMillion: 1, outputPerMillion: 4 };
const CALL = { name: 'words__words_count', args: '{"text":"one two"}' };

const arbUsage: fc.Arbitrary<ScriptedUsage> = fc.oneof(
  fc.constant(null),
  fc.record({ input: fc.integer({ min: 0, max: 3_000 }), output: fc.integer({ min: -1, max: 1_500 }) }),
);
const arbReply: fc.Arbitrary<ScriptedReply> = fc.oneof(
  { weight: 5, arbitrary: arbUsage.map((usage) => ({ text: 'hm', calls: [CALL], usage })) },
  { weight: 2, arbitrary: arbUsage.map((usage) => ({ text: 'done', usage })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(429, 500, 401)
      .map((status) => ({ status, headers: { 'retry-after-ms': '0' } })),
  },
  { weight: 1, arbitrary: arbUsage.map((usage) => ({ text: 'ha', cuts: true, usage })) },
);

const isBelieved = (usage: ScriptedUsage | undefined): usage is { input: number; output: number } =>
  usage !== undefined && usage !== null && usage.input > 0 && usage.output >= 0;

describe('What a model spends (F-04)', () => {
  it('is there before each call, is never more than the budget, and is what was counted where it was', async () => {
    await using team = await modelTeam([], {
      prices: PRICES,
      tools: ['words.words.count'],
      limits: { maxSteps: 6, maxOutputTokens: 300, lastOutputTokens: 100, attempts: 3, mayBillTwice: true },
    });
    const arbCase = fc.record({
      replies: fc.array(arbReply, { minLength: 1, maxLength: 10 }),
      tokens: fc.integer({ min: 0, max: 12_000 }),
      micros: fc.integer({ min: 0, max: 20_000 }),
    });
    await fc.assert(
      fc.asyncProperty(arbCase, async ({ replies, tokens, micros }) => {
        using account: Account = team.system.openAccount({ tokens, costUsd: micros / 1e6 });
        let counted = 0;
        let least = 0;
        const unpaid: string[] = [];
        team.server.script(({ max_tokens = 0 }, at) => {
          const { tokens: spent = 0 } = account.spent;
          if (spent < Math.min(tokens, counted) + max_tokens && spent < tokens)
            unpaid.push(`call ${at}: ${spent} of ${counted} and ${max_tokens}`);
          const reply = replies[Math.min(at, replies.length - 1)] ?? {};
          if (reply.status === 429 || reply.status === 401) return reply;
          const { usage } = reply;
          const isCounted = isBelieved(usage) && reply.status === undefined && reply.cuts !== true;
          if (isCounted) counted += usage.input + usage.output;
          else least += max_tokens;
          return reply;
        });
        await account.ask({ agent: team.luna, capability: answer }, { prompt: 'x' }).catch(() => undefined);
        const { spent } = account;
        expect(unpaid).toEqual([]);
        expect(spent.tokens).toBeLessThanOrEqual(tokens);
        expect(spent.costUsd).toBeLessThanOrEqual(micros / 1e6);
        expect(spent.tokens).toBeGreaterThanOrEqual(Math.min(tokens, counted + least));
        if (least === 0) expect(spent.tokens).toBe(Math.min(tokens, counted));
      }),
      { numRuns: 150 },
    );
  });
});
