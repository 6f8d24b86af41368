import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DotProducts, SHORT_DIMENSIONS } from '../../../../../actors/skills/search/dot-products.ts';

const short = fc.int8Array({ minLength: SHORT_DIMENSIONS, maxLength: SHORT_DIMENSIONS });

const dot = (one: Int8Array, other: Int8Array): number =>
  one.reduce((sum, value, at) => sum + value * (other[at] as number), 0);

describe('The dot products of short vectors', () => {
  it('are those that plain JavaScript gets', () => {
    fc.assert(
      fc.property(fc.array(short, { minLength: 1, maxLength: 20 }), short, (vectors, query) => {
        const products = new DotProducts();
        for (const [place, vector] of vectors.entries()) products.set(place, vector);
        expect([...products.with(query, vectors.length)]).toEqual(vectors.map((one) => dot(one, query)));
      }),
    );
  });

  it('are right at the limits of a byte', () => {
    const products = new DotProducts();
    const least = new Int8Array(SHORT_DIMENSIONS).fill(-128);
    products.set(0, least);
    expect([...products.with(least, 1)]).toEqual([SHORT_DIMENSIONS * 128 * 128]);
  });

  it('are right for as many vectors as there are, and 0 where there is none', () => {
    const products = new DotProducts();
    const ones = new Int8Array(SHORT_DIMENSIONS).fill(1);
    for (let place = 0; place < 128; place++) products.set(place, ones);
    // Its results lie where the next vectors will.
    products.with(ones, 128);
    products.set(
      1_000,
      ones.map((value) => value * 2),
    );
    const found = products.with(ones, 1_001);
    expect([...found.subarray(0, 128)]).toEqual(Array(128).fill(SHORT_DIMENSIONS));
    expect(found.subarray(128, 1_000).every((value) => value === 0)).toBe(true);
    expect(found[1_000]).toBe(SHORT_DIMENSIONS * 2);
  });

  it('forget a vector that another takes the place of', () => {
    const products = new DotProducts();
    const ones = new Int8Array(SHORT_DIMENSIONS).fill(1);
    products.set(0, ones);
    products.set(0, new Int8Array(SHORT_DIMENSIONS));
    expect([...products.with(ones, 1)]).toEqual([0]);
  });
});
