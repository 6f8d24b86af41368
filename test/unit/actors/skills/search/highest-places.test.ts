import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { highestPlaces } from '../../../../../actors/skills/search/highest-places.ts';

const scores = fc.array(fc.integer({ min: -5, max: 40 }), { maxLength: 200 });

describe('The places with the highest scores', () => {
  it('have the scores that come first when all are sorted', () => {
    fc.assert(
      fc.property(
        scores,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 4 }),
        (all, most, every) => {
          const takes = (place: number): boolean => place % every === 0;
          const places = highestPlaces(Float32Array.from(all), { most, takes });
          const expected = all
            .filter((score, place) => score > 0 && takes(place))
            .sort((one, other) => other - one)
            .slice(0, most);
          expect(new Set(places).size).toBe(places.length);
          expect(places.every(takes)).toBe(true);
          expect(places.map((place) => all[place]).sort((one, other) => Number(other) - Number(one))).toEqual(
            expected,
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it('are asked for only if they are high enough', () => {
    const asked: number[] = [];
    const takes = (place: number): boolean => asked.push(place) > 0;
    highestPlaces(Float32Array.from([5, 4, 0, 6, -1, 3]), { most: 2, takes });
    expect(asked).toEqual([0, 1, 3]);
  });
});
