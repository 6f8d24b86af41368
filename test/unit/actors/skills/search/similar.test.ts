import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextIndex } from '../../../../../actors/skills/search/text-index.ts';
import { wordsOf } from '../../../../../actors/skills/search/words.ts';

const VOCABULARY = Array.from({ length: 40 }, (_, at) => `w${String.fromCharCode(97 + (at % 26))}${at}`);

/** Texts of which some are nearly others: words of one list, of which some are left out. */
const text = (most: number) =>
  fc
    .tuple(
      fc.subarray(VOCABULARY, { maxLength: most }),
      fc.array(fc.constantFrom(...VOCABULARY), { maxLength: 3 }),
    )
    .map((words) => words.flat().join(' '));

function jaccard(one: string, other: string): number {
  const [these, those] = [new Set(wordsOf(one)), new Set(wordsOf(other))];
  const common = [...these].filter((word) => those.has(word)).length;
  const either = these.size + those.size - common;
  return either === 0 ? 0 : common / either;
}

describe('Texts that are similar', () => {
  it('are those whose words are nearly the same, whatever was taken out (property)', () => {
    const script = fc.record({
      texts: fc.array(text(10), { minLength: 1, maxLength: 30 }),
      nears: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 10 }),
      removed: fc.array(fc.nat(39), { maxLength: 5 }),
      taken: fc.integer({ min: 1, max: 4 }),
      share: fc.integer({ min: 1, max: 100 }).map((percent) => percent / 100),
      asked: fc.nat(),
      words: text(40),
    });
    fc.assert(
      fc.property(script, ({ texts, nears, removed, taken, share, asked, words }) => {
        const near = nears.map(([nth, without]) => {
          const its = wordsOf(texts[nth % texts.length] as string);
          return its.filter((_, at) => at !== without % its.length).join(' ');
        });
        const all = [...texts, ...near, words];
        const index = new TextIndex();
        for (const one of all) index.add(one);
        for (const place of removed) index.remove(place);
        const takes = (place: number) => place % taken === 0;
        for (const query of [words, all[asked % all.length] as string]) {
          const expected = all.flatMap((one, place) => {
            const similarity = jaccard(query, one);
            const isMeant = takes(place) && !removed.includes(place) && similarity >= share;
            return isMeant ? [{ place, similarity }] : [];
          });
          const found = index.similar(query, { takes, share, most: 100 });
          expect(found.toSorted((one, other) => one.place - other.place)).toEqual(expected);
          const order = found.map(({ similarity }) => similarity);
          expect(order).toEqual(order.toSorted((one, other) => other - one));
          const few = index.similar(query, { takes, share, most: 2 }).map(({ similarity }) => similarity);
          expect(few).toEqual(order.slice(0, 2));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('are found at exactly the share that is asked for, of any number of words', () => {
    for (let words = 1; words <= 120; words++) {
      const its = Array.from({ length: words }, (_, at) => `${1_000 + at}`);
      for (let common = 1; common <= words; common++) {
        const share = common / words;
        const index = new TextIndex();
        index.add(its.slice(0, common).join(' '));
        const [found] = index.similar(its.join(' '), { takes: () => true, share, most: 1 });
        expect([words, common, found?.similarity]).toEqual([words, common, share]);
      }
    }
  });

  it('are none of a text without words', () => {
    const index = new TextIndex();
    for (const one of ['!!!', 'a', '']) index.add(one);
    expect(index.similar('!!!', { takes: () => true, share: 0.1, most: 5 })).toEqual([]);
  });
});
