import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { vectorFromBytes, vectorToBytes } from '../../../../../actors/skills/search/vector-bytes.ts';
import { cosine, type Vector, vectorOf } from '../../../../../actors/skills/search/vector.ts';
import { VectorIndex } from '../../../../../actors/skills/search/vector-index.ts';

const towards = (...numbers: number[]) =>
  vectorOf(Float32Array.from({ length: 512 }, (_, at) => numbers[at] ?? 0));

/** Vectors of different models, one of which has so many dimensions that few of its vectors have room side by side. */
const vector = fc.constantFrom(
  ...[3, 512, 400_000].flatMap((dimensions) =>
    [
      [1, 2, 3],
      [-3, 1, 0],
      [0, 0, 0],
    ].map((first) => {
      const embedding = new Float32Array(dimensions);
      embedding.set(first);
      return vectorOf(embedding);
    }),
  ),
);
/** Vectors that are put in at places or, where there is none, removed from there. */
const changes = fc.array(
  fc.record({ place: fc.integer({ min: 0, max: 300 }), put: fc.option(vector, { freq: 4 }) }),
  { minLength: 1, maxLength: 30 },
);

const dot = (one: Int8Array, other: Int8Array): number =>
  one.reduce((sum, value, at) => sum + value * (other[at] as number), 0);

describe('The search by meaning (A-13)', () => {
  it('compares what is at each place in the end, whatever was there and wherever it lies', () => {
    fc.assert(
      fc.property(changes, vector, (all, query) => {
        const index = new VectorIndex();
        const expected = new Map<number, Vector>();
        for (const { place, put } of all) {
          if (put === null) {
            index.remove(place);
            expected.delete(place);
          } else {
            index.set(place, put);
            expected.set(place, put);
          }
        }
        const nearness = index.nearness(query);
        for (let place = 0; place <= 300; place++) {
          const its = expected.get(place);
          expect(nearness[place] ?? 0).toBe(its === undefined ? 0 : dot(query.short, its.short));
          const isComparable = its?.whole.length === query.whole.length;
          expect(index.cosine(query, place)).toBe(isComparable ? cosine(query, its) : null);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('keeps a vector of more numbers than it makes room for at once', () => {
    const index = new VectorIndex();
    const large = vectorOf(new Float32Array(1_500_000).fill(1));
    index.set(0, towards(1));
    index.set(1, large);
    index.set(2, towards(1, 1));
    expect([index.cosine(large, 1), index.cosine(towards(1), 0), index.cosine(towards(1), 2)]).toEqual([
      cosine(large, large),
      cosine(towards(1), towards(1)),
      cosine(towards(1), towards(1, 1)),
    ]);
  });

  it('keeps a vector as it was, whatever becomes of the bytes that it was read from', () => {
    const index = new VectorIndex();
    const bytes = vectorToBytes(towards(1));
    index.set(0, vectorFromBytes(bytes));
    bytes.fill(99);
    expect(index.cosine(towards(1), 0)).toBe(cosine(towards(1), towards(1)));
    expect([...index.nearness(towards(1))]).toEqual([dot(towards(1).short, towards(1).short)]);
  });

  it('says how near the text at each place is, and the cosine', () => {
    const index = new VectorIndex();
    index.set(0, towards(1, 0));
    index.set(2, towards(1, 1));
    const query = towards(1, 0);
    const [same = 0, none = 0, between = 0] = index.nearness(query);
    expect(none).toBe(0);
    expect(between).toBeGreaterThan(0);
    expect(same).toBeGreaterThan(between);
    expect(index.cosine(query, 0)).toBeCloseTo(1, 2);
    expect(index.cosine(query, 2)).toBeCloseTo(Math.SQRT1_2, 2);
  });

  it('has no cosine where there is no vector, or one of another model', () => {
    const index = new VectorIndex();
    index.set(1, vectorOf(Float32Array.from([1, 0])));
    expect(index.cosine(towards(1), 0)).toBeNull();
    expect(index.cosine(towards(1), 1)).toBeNull();
    expect(index.cosine(towards(1), 5)).toBeNull();
  });

  it('has nothing at a place that was removed', () => {
    const index = new VectorIndex();
    index.set(0, towards(1));
    index.remove(0);
    index.remove(7);
    expect([...index.nearness(towards(1))]).toEqual([0]);
    expect(index.cosine(towards(1), 0)).toBeNull();
  });
});
