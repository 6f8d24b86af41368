import { describe, expect, it } from 'vitest';
import { LabelledQuery, readLabelledSet } from '../../../bench/skills/labelled-set.ts';
import { namedMemories } from '../../../bench/skills/named-memories.ts';
import { ndcg } from '../../../bench/skills/ndcg.ts';
import { chanceOf, RandomWords } from '../../../bench/skills/random-memories.ts';

describe('nDCG@10', () => {
  it('is 1 if the best come first, in the order of their grades', () => {
    expect(ndcg(['best', 'good', 'other'], { good: 1, best: 3 })).toBe(1);
  });

  it('is what the definition says where they do not', () => {
    const gain = 1 / Math.log2(2) + 7 / Math.log2(5);
    const most = 7 / Math.log2(2) + 1 / Math.log2(3);
    expect(ndcg(['good', 'other', 'another', 'best'], { best: 3, good: 1 })).toBeCloseTo(gain / most, 12);
  });

  it('is 0 if nothing is found, or nothing among the first ten', () => {
    expect(ndcg([], { best: 3 })).toBe(0);
    const late = [...Array.from({ length: 10 }, (_, at) => `other ${at}`), 'best'];
    expect(ndcg(late, { best: 3 })).toBe(0);
    expect(ndcg(late.slice(1), { best: 3 })).toBeCloseTo(1 / Math.log2(11), 12);
  });

  it('is below 1 if one of those that are wanted is missed', () => {
    expect(ndcg(['one'], { one: 2, two: 2 })).toBeCloseTo(1 / (1 + 1 / Math.log2(3)), 12);
  });
});

describe('The labelled set', () => {
  const { memories, queries } = readLabelledSet();
  const textsOf = (kind: LabelledQuery['kind']): Set<string> =>
    new Set(queries.filter((query) => query.kind === kind).map(({ text }) => text));

  it('has at least 400 memories and 100 questions of each kind, no two alike', () => {
    expect(new Set(memories.map(({ text }) => text)).size).toBe(memories.length);
    expect(memories.length).toBeGreaterThanOrEqual(400);
    for (const kind of ['paraphrase', 'keyword', 'question'] as const)
      expect(textsOf(kind).size).toBeGreaterThanOrEqual(100);
    expect(new Set(queries.map(({ text }) => text)).size).toBe(queries.length);
  });

  it('has at least 150 memories beside those, the same each time, and 40 questions that name one of them', () => {
    const named = namedMemories();
    expect(namedMemories()).toEqual(named);
    expect(named.memories.length).toBeGreaterThanOrEqual(150);
    expect(memories.length - named.memories.length).toBeGreaterThanOrEqual(400);
    expect(memories.slice(-named.memories.length)).toEqual(named.memories);
    expect(textsOf('identifier').size).toBeGreaterThanOrEqual(40);
    for (const { kind, text, relevant } of queries) {
      if (kind !== 'identifier') continue;
      const wanted = memories.filter(({ id }) => id in relevant);
      const name = wanted[0]?.text.split(/[ ;]/).find((word) => /[-.\d]/.test(word) && text.includes(word));
      expect(name, text).toBeDefined();
      expect(memories.filter((memory) => memory.text.includes(name ?? text))).toEqual(wanted);
    }
  });

  it.each([
    ['no memory', {}],
    ['more than three', { a: 1, b: 1, c: 1, d: 1 }],
    ['a grade that is none', { a: 0 }],
  ])('takes no question that %s would answer', (_what, relevant) => {
    expect(LabelledQuery.safeParse({ kind: 'question', text: 'why', relevant }).success).toBe(false);
  });
});

describe('Random memories', () => {
  it('are the same for the same seed, and have words as often as their rank says', () => {
    const text = new RandomWords(chanceOf(1), 1_000).text(20_000);
    expect(new RandomWords(chanceOf(1), 1_000).text(20_000)).toBe(text);
    const counts = new Map<string, number>();
    for (const word of text.split(' ')) counts.set(word, (counts.get(word) ?? 0) + 1);
    const [first = 0, second = 0] = [...counts.values()].toSorted((one, other) => other - one);
    expect(first / second).toBeGreaterThan(1.7);
    expect(first / second).toBeLessThan(2.3);
  });
});
