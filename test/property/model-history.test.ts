import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../actors/models/count-tokens.ts';
import type { ConversationTurn } from '../../actors/models/conversation.ts';
import { shortenHistory, tokensOf } from '../../actors/models/shorten-history.ts';

const count = estimateTokens;
// Without the size no text has more than ten characters, and nothing is ever too long.
const text = fc.string({ maxLength: 400, size: 'max' });
const list = <Item>(item: fc.Arbitrary<Item>, maxLength: number) =>
  fc.array(item, { maxLength, size: 'max' });

/** The work, and then rounds: what the model said, and what came of its calls. */
const arbSaid: fc.Arbitrary<ConversationTurn[]> = fc
  .tuple(text, list(fc.tuple(text, list(text, 4)), 12))
  .map(([work, rounds]) => [
    { by: 'user' as const, text: work },
    ...rounds.flatMap(([words, results], round): ConversationTurn[] => {
      const calls = results.map((_, at) => ({ id: `c${round}-${at}`, name: 't', input: {} }));
      const said: ConversationTurn[] = [{ by: 'model', text: words, calls }];
      if (results.length > 0)
        said.push({
          by: 'tools',
          results: results.map((result, at) => ({
            id: `c${round}-${at}`,
            name: 't',
            text: result,
            isError: false,
          })),
        });
      return said;
    }),
  ]);

describe('A conversation that is too long', () => {
  it('is shortened to what is asked for, wherever 200 characters of each part leave room for that', () => {
    let shortened = 0;
    fc.assert(
      fc.property(arbSaid, fc.integer({ min: 1_000, max: 4_000 }), (said, maxTokens) => {
        const short = shortenHistory(said, maxTokens, count);
        expect(tokensOf(short, count)).toBeLessThanOrEqual(maxTokens);
        if (short !== said) shortened += 1;
      }),
      { numRuns: 300 },
    );
    expect(shortened).toBeGreaterThan(30);
  });

  it('begins with the work, ends with the newest, and never parts a call from what came of it', () => {
    fc.assert(
      fc.property(arbSaid, fc.integer({ min: 0, max: 3_000 }), (said, maxTokens) => {
        const short = shortenHistory(said, maxTokens, count);
        expect(short[0]?.by).toBe('user');
        expect(short.at(-1)?.by).toBe(said.at(-1)?.by);
        const called = short.flatMap((one) => (one.by === 'model' ? one.calls.map(({ id }) => id) : []));
        const answered = short.flatMap((one) => (one.by === 'tools' ? one.results.map(({ id }) => id) : []));
        expect(answered).toEqual(called);
      }),
      { numRuns: 300 },
    );
  });

  it('is as it was when it is short enough', () => {
    fc.assert(
      fc.property(arbSaid, (said) => {
        expect(shortenHistory(said, tokensOf(said, count), count)).toBe(said);
      }),
      { numRuns: 100 },
    );
  });
});
