import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cosine, vectorOf } from '../../../../../actors/skills/search/vector.ts';

const embedding = fc
  .float32Array({ minLength: 1, maxLength: 600, noNaN: true, noDefaultInfinity: true, min: -8, max: 8 })
  .filter((numbers) => numbers.some((value) => Math.abs(value) > 1e-3));

/** Numbers as they are drawn from a normal distribution (Box and Muller), always the same ones. */
function normals(count: number, seed: number): number[] {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 1) / 2 ** 32;
  };
  return Array.from(
    { length: count },
    () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next()),
  );
}

function trueCosine(one: ArrayLike<number>, other: ArrayLike<number>): number {
  const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
    Array.from(a).reduce((sum, value, at) => sum + value * (b[at] ?? Number.NaN), 0);
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other));
}

/** What `whole`, `scale` and `short` are, written down plainly. */
function plainVector(given: Float32Array) {
  const unit = plainUnit(given);
  const largest = unit.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const size = Math.max(256, 2 ** Math.ceil(Math.log2(unit.length)));
  let state = 0x9e3779b9;
  let spread = Float32Array.from({ length: size }, (_, at) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (unit[at] ?? 0) * ((state & 1) === 1 ? 1 : -1);
  });
  for (let half = 1; half < size; half *= 2) {
    const before = spread;
    spread = before.map((value, at) => {
      const other = before[at ^ half] as number;
      return (at & half) === 0 ? value + other : other - value;
    });
  }
  const whole = plainBytes(unit, largest);
  return {
    whole,
    scale: Math.fround(1 / Math.sqrt(whole.reduce((sum, value) => sum + value * value, 0))),
    short: plainBytes(plainUnit(spread.slice(0, 256)), 4 / 16),
  };
}

function plainUnit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => (length === 0 ? value : value / length));
}

const plainBytes = (vector: Float32Array, largest: number): Int8Array =>
  Int8Array.from(vector, (value) => Math.round(Math.max(-127, Math.min(127, value * (127 / largest)))));

describe('A vector as it is compared (A-13)', () => {
  it('is what its definition says, whatever vector was made before', () => {
    fc.assert(
      fc.property(embedding, (given) => {
        const vector = vectorOf(given);
        expect(vector).toEqual(plainVector(given));
        expect(cosine(vector, vector)).toBeLessThanOrEqual(1);
      }),
      { numRuns: 200 },
    );
  });

  it('leaves the embedding as it was', () => {
    const given = Float32Array.from(normals(512, 5));
    const before = given.slice();
    vectorOf(given);
    expect(given).toEqual(before);
  });

  it('has the cosines of the embeddings, to a hundredth', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const one = normals(512, seed);
      const noise = normals(512, seed + 1_000);
      const other = one.map((value, at) => value * (seed / 25 - 1) + (noise[at] as number));
      const found = cosine(vectorOf(Float32Array.from(one)), vectorOf(Float32Array.from(other)));
      expect(Math.abs(found - trueCosine(one, other))).toBeLessThan(0.01);
    }
  });

  it('is as near to itself as can be, whatever its length was', () => {
    const one = Float32Array.from(normals(384, 3));
    const longer = one.map((value) => value * 64);
    expect(cosine(vectorOf(one), vectorOf(longer))).toBeCloseTo(1, 6);
  });

  it('is near nothing if it is zero', () => {
    const nothing = vectorOf(new Float32Array(512));
    expect(cosine(nothing, vectorOf(Float32Array.from(normals(512, 1))))).toBe(0);
    expect(nothing.short.every((value) => value === 0)).toBe(true);
  });

  it('keeps those that are nearest among the first 200 of 5,000 by its short form', () => {
    const query = normals(512, 77);
    const all = Array.from({ length: 5_000 }, (_, at) => {
      const own = normals(512, at + 1);
      // A few are near, with a cosine of about 0.45 to 0.3, which is what models give to what belongs together.
      const share = at < 20 ? 0.5 - at / 100 : 0;
      return own.map((value, dimension) => value + share * (query[dimension] as number));
    });
    const near = (cosines: readonly number[], most: number): Set<number> =>
      new Set([...cosines.keys()].sort((a, b) => (cosines[b] ?? 0) - (cosines[a] ?? 0)).slice(0, most));
    const best = near(
      all.map((one) => trueCosine(query, one)),
      10,
    );
    const { short } = vectorOf(Float32Array.from(query));
    const byShort = near(
      all.map((one) =>
        vectorOf(Float32Array.from(one)).short.reduce(
          (sum, value, at) => sum + value * (short[at] as number),
          0,
        ),
      ),
      200,
    );
    expect([...best].filter((place) => byShort.has(place))).toHaveLength(10);
  });
});
