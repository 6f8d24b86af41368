import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextIndex } from '../../../../../actors/skills/search/text-index.ts';
import { wordsOf } from '../../../../../actors/skills/search/words.ts';

/** BM25 as it is written down (Robertson and Zaragoza, 2009), a number five times, over the most that it could give any text. */
function plainScores(texts: readonly string[], query: string): number[] {
  const documents = texts.map(wordsOf);
  const meanLength = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length);
  const asked = [...new Set(wordsOf(query))];
  const rarity = (word: string): number => {
    const having = documents.filter((words) => words.includes(word)).length;
    const times = /\d/.test(word) ? 5 : 1;
    return times * Math.log(1 + (documents.length - having + 0.5) / (having + 0.5));
  };
  const most = asked.reduce((sum, word) => sum + rarity(word) * 2.2, 0);
  return documents.map((words) => {
    const score = asked.reduce((sum, word) => {
      const count = words.filter((one) => one === word).length;
      const length = 0.25 + (0.75 * words.length) / Math.max(meanLength, Number.MIN_VALUE);
      return count === 0 ? sum : sum + (rarity(word) * 2.2 * count) / (count + 1.2 * length);
    }, 0);
    return score === 0 ? 0 : score / most;
  });
}

const word = fc.constantFrom(
  'ship',
  'brokers',
  'invoice',
  'night',
  'port',
  'Queue',
  'redZebra',
  'zebra',
  'crème',
  '4711',
  '12',
);
const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '));
const texts = fc.array(text, { minLength: 1, maxLength: 20 });

const indexOf = (all: readonly string[]): TextIndex => {
  const index = new TextIndex();
  for (const one of all) index.add(one);
  return index;
};

function expectNear(found: Iterable<number>, expected: readonly number[]): void {
  const scores = [...found];
  expect(scores.length).toBe(expected.length);
  for (const [at, score] of scores.entries()) expect(score).toBeCloseTo(expected[at] ?? Number.NaN, 5);
}

describe('The search by words (A-13)', () => {
  it('scores texts as BM25 does, from 0 to 1', () => {
    fc.assert(
      fc.property(texts, text, (all, query) => {
        const scores = [...indexOf(all).scores(query)];
        expectNear(scores, plainScores(all, query));
        expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('scores what is left as if the removed texts had never been there', () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(), { maxLength: 15 }), text, (all, removals, query) => {
        const index = indexOf(all);
        const gone = new Set(removals.map((one) => one % all.length));
        for (const place of gone) index.remove(place);
        const left = all.filter((_, place) => !gone.has(place));
        expect(index.size).toBe(left.length);
        const scores = [...index.scores(query)];
        for (const place of gone) expect(scores[place]).toBe(0);
        expectNear(
          scores.filter((_, place) => !gone.has(place)),
          plainScores(left, query),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('stays right when it is worn, and says that it is', () => {
    const all = Array.from({ length: 300 }, (_, at) => `ship ${at % 7} ${at % 3 === 0 ? 'zebra' : 'port'}`);
    const index = indexOf(all);
    expect(index.isWorn).toBe(false);
    for (let place = 0; place < 100; place++) index.remove(place);
    expect(index.isWorn).toBe(true);
    const scores = [...index.scores('zebra 4')];
    expect(scores.slice(0, 100)).toEqual(Array(100).fill(0));
    expectNear(scores.slice(100), plainScores(all.slice(100), 'zebra 4'));
  });

  it('takes a text out once, however often that is asked for', () => {
    const index = indexOf(['ship', 'ship port', 'port']);
    index.remove(1);
    index.remove(1);
    index.remove(17);
    expect(index.size).toBe(2);
    expectNear(index.scores('ship'), [plainScores(['ship', 'port'], 'ship')[0] ?? 0, 0, 0]);
  });

  it('counts words alike before and after so many others that it does not know all as they are written', () => {
    const index = indexOf(['ships portSide']);
    const others = Array.from(
      { length: 30_001 },
      (_, at) => `w${String.fromCharCode(...[...String(at)].map((digit) => 97 + Number(digit)))}`,
    );
    index.add(others.join(' '));
    index.remove(1);
    index.add('ships portSide');
    for (const query of ['ship', 'portSide', 'side'])
      expectNear(
        index.scores(query),
        [1, 0, 1].map((is) => is * (plainScores(['ships portSide'], query)[0] ?? 0)),
      );
  });

  it('counts a word up to 255 times in one text', () => {
    const texts = [255, 256, 300].map((times) => `${'ship '.repeat(times)}${'port '.repeat(300 - times)}`);
    const [most = 0, more = 0, all = 0] = [...indexOf(texts).scores('ship')];
    expect([more, all]).toEqual([most, most]);
    expect(most).toBeGreaterThan(
      indexOf([...texts, `${'ship '.repeat(254)}${'port '.repeat(46)}`]).scores('ship')[3] ?? 1,
    );
  });

  it('counts a word of the query once, and words that no text has against all', () => {
    const index = indexOf(['ship port', 'port']);
    expect([...index.scores('ship ship ship')]).toEqual([...index.scores('ship')]);
    const [alone = 0] = [...index.scores('ship')];
    const [together = 0] = [...index.scores('ship unheard')];
    expect(together).toBeGreaterThan(0);
    expect(together).toBeLessThan(alone);
  });

  it('finds nothing by a query without words, and nothing in no texts', () => {
    expect([...indexOf(['ship', '']).scores('?!')]).toEqual([0, 0]);
    expect([...new TextIndex().scores('ship')]).toEqual([]);
  });
});
