import { describe, expect, it } from 'vitest';
import { vectorOf } from '../../../../../actors/skills/search/vector.ts';
import { VectorIndex } from '../../../../../actors/skills/search/vector-index.ts';

const towards = (...numbers: number[]) =>
  vectorOf(Float32Array.from({ length: 512 }, (_, at) => numbers[at] ?? 0));

describe('The search by meaning (A-13)', () => {
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
