import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HybridIndex, type HybridQuery } from '../../../../../actors/skills/search/hybrid-index.ts';
import { TextIndex } from '../../../../../actors/skills/search/text-index.ts';
import { cosine, vectorOf } from '../../../../../actors/skills/search/vector.ts';

const ALL: Pick<HybridQuery, 'takes' | 'most'> = { takes: () => true, most: 10 };
const towardsIn = (length: number, numbers: readonly number[]) =>
  Float32Array.from({ length }, (_, at) => numbers[at] ?? 0);
const towards = (...numbers: number[]) => vectorOf(towardsIn(512, numbers));

const word = fc.constantFrom('ship', 'broker', 'invoice', 'night', 'port', 'queue');
const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
/** Angles that are right or far from it: what is hardly near may be missed. */
const numbers = fc.constantFrom<[number, number]>([1, 0], [0, 1], [1, 1], [1, -1], [-1, 0]);
const entries = fc.array(fc.record({ text, numbers: fc.option(numbers) }), { minLength: 1, maxLength: 30 });

describe('The search by words and meaning (A-13, C-22)', () => {
  it('scores by the square of the words plus 0.3 times a cosine above 0, and ranks by that', () => {
    fc.assert(
      fc.property(entries, text, numbers, (all, query, direction) => {
        const index = new HybridIndex();
        const texts = new TextIndex();
        for (const one of all) {
          index.add(one.text, one.numbers === null ? undefined : towards(...one.numbers));
          texts.add(one.text);
        }
        const vector = towards(...direction);
        const byWords = texts.scores(query);
        const expected = all
          .map((one, place) => {
            const near = one.numbers === null ? null : cosine(vector, towards(...one.numbers));
            const signals = { text: byWords[place] as number, vector: near };
            return { place, score: signals.text ** 2 + 0.3 * Math.max(0, near ?? 0), signals };
          })
          .filter(({ score }) => score > 0)
          .sort((one, other) => other.score - one.score || one.place - other.place);
        expect(index.search({ text: query, vector, takes: () => true, most: 100 })).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('finds the same as among what is there alone, after removals, growth and vectors of other dimensions', () => {
    const many = fc.array(
      fc.record({
        text,
        numbers: fc.option(numbers),
        dimensions: fc.constantFrom(512, 512, 300),
        isRemoved: fc.boolean(),
      }),
      { minLength: 150, maxLength: 190 },
    );
    fc.assert(
      fc.property(many, text, numbers, (all, query, direction) => {
        const changed = new HybridIndex();
        const plain = new HybridIndex();
        const places: number[] = [];
        for (const { text: its, numbers: angle, dimensions, isRemoved } of all) {
          const vector = angle === null ? undefined : vectorOf(towardsIn(dimensions, angle));
          const place = changed.add(its, vector);
          if (isRemoved) continue;
          plain.add(its, vector);
          places.push(place);
        }
        for (const [place, { isRemoved }] of all.entries()) if (isRemoved) changed.remove(place);
        const asked = { text: query, vector: towards(...direction), takes: () => true, most: 300 };
        expect(changed.search(asked)).toEqual(
          plain.search(asked).map((hit) => ({ ...hit, place: places[hit.place] })),
        );
      }),
      { numRuns: 100 },
    );
  });

  it('finds only what is meant, as many as are wanted', () => {
    fc.assert(
      fc.property(entries, text, fc.integer({ min: 1, max: 5 }), (all, query, most) => {
        const index = new HybridIndex();
        for (const one of all) index.add(one.text, towards(1));
        const takes = (place: number): boolean => place % 2 === 0;
        const hits = index.search({ text: query, vector: towards(1), takes, most });
        expect(hits.every(({ place }) => takes(place))).toBe(true);
        expect(hits.length).toBe(Math.min(most, Math.ceil(all.length / 2)));
      }),
    );
  });

  it('finds those that are meant behind any number of better ones that are not', () => {
    const index = new HybridIndex();
    for (let left = 0; left < 1_000; left++) index.add('ship', towards(1));
    const last = index.add('ship and much else that nobody has asked for', towards(1, 1));
    const [hit] = index.search({
      text: 'ship',
      vector: towards(1),
      takes: (place) => place === last,
      most: 1,
    });
    expect(hit?.place).toBe(last);
  });

  it('finds by words alone without a vector of the query, and says so', () => {
    const index = new HybridIndex();
    index.add('ship', towards(1));
    index.add('port', towards(1));
    const hits = index.search({ text: 'ship', vector: undefined, ...ALL });
    expect(hits).toEqual([
      {
        place: 0,
        score: (hits[0]?.signals.text ?? 0) ** 2,
        signals: { text: expect.any(Number), vector: null },
      },
    ]);
  });

  it('finds by meaning what shares no word, once its vector is there', () => {
    const index = new HybridIndex();
    index.add('a boat');
    const query = { text: 'ship', vector: towards(1), ...ALL };
    expect(index.search(query)).toEqual([]);
    index.setVector(0, towards(1));
    expect(index.search(query)).toMatchObject([{ place: 0, signals: { text: 0 } }]);
  });

  it('has texts of equal score in the order in which they were added', () => {
    const index = new HybridIndex();
    for (let left = 0; left < 50; left++) index.add('ship', towards(1));
    const places = index.search({ text: 'ship', vector: towards(1), ...ALL }).map(({ place }) => place);
    expect(places).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it.each([1, 2, 5, 10])(
    'has the order first that a question names by its number, among %i, although another is nearer',
    (orders) => {
      for (let asked = 0; asked < orders; asked++) {
        const index = new HybridIndex();
        for (let at = 0; at < orders; at++)
          index.add(
            `Order ${4_711 + at} arrived late`,
            at === asked ? towards(0.5, 0.87) : towards(0.6, 0.8),
          );
        const query = { text: `What happened to order ${4_711 + asked}?`, vector: towards(1), ...ALL };
        expect(index.search(query)[0]?.place).toBe(asked);
      }
    },
  );

  it.each([2, 5, 10])(
    'has what is nearer first, among %i, although another shares a word by chance',
    (texts) => {
      const index = new HybridIndex();
      index.add('The spring of the door is broken', towards(0.35, 0.94));
      index.add('Some customers were charged twice in March', towards(0.4, 0.92));
      for (let more = 2; more < texts; more++) index.add(`Nobody has asked for ${more}`, towards(0.1, 0.99));
      const query = { text: 'why did people pay two times this spring', vector: towards(1), ...ALL };
      expect(index.search(query)[0]?.place).toBe(1);
    },
  );

  it('finds a tenant’s only text by a word, by its meaning and by both, and by both it scores highest', () => {
    const index = new HybridIndex();
    index.add('The ship is late', towards(1));
    const scoreOf = (query: Pick<HybridQuery, 'text' | 'vector'>): number =>
      index.search({ ...query, ...ALL })[0]?.score ?? 0;
    const byWord = scoreOf({ text: 'which ship', vector: undefined });
    const byMeaning = scoreOf({ text: 'a boat', vector: towards(1) });
    expect(byWord).toBeGreaterThan(0);
    expect(byMeaning).toBeCloseTo(0.3, 5);
    expect(scoreOf({ text: 'which ship', vector: towards(1) })).toBeCloseTo(byWord + byMeaning, 5);
    expect(scoreOf({ text: 'a boat', vector: towards(-1) })).toBe(0);
  });

  it('finds nothing any more of what was removed (A-14)', () => {
    const index = new HybridIndex();
    index.add('ship', towards(1));
    index.add('ship', towards(1));
    index.remove(0);
    expect(index.search({ text: 'ship', vector: towards(1), ...ALL }).map(({ place }) => place)).toEqual([1]);
    expect([index.size, index.places]).toEqual([1, 2]);
  });
});
