import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRotation, partOf } from '../../mutants/rotation.ts';

const at =
  (count: number | undefined, hash = '0000000bcafe') =>
  () => ({ hash, count });
const never = (): never => {
  throw new Error('nobody asked for the commit');
};

describe('Which part of the mutants runs', () => {
  it('is the one that is named', () => {
    expect(parseRotation('2/4', never)).toEqual({ part: 2, of: 4 });
  });

  it('goes on by one with every commit', () => {
    const parts = [8, 9, 10, 11, 12].map((count) => parseRotation('4', at(count)).part);
    expect(parts).toEqual([1, 2, 3, 4, 1]);
  });

  it('follows from the hash where the history is not there', () => {
    expect(parseRotation('4', at(undefined))).toEqual({ part: (0xb % 4) + 1, of: 4 });
  });

  it.each(['', '0', '5/4', '0/4', '1/0', 'x', '1/4/5', '-1'])('is refused as %j', (text) => {
    expect(() => parseRotation(text, at(1))).toThrow(`--rotate ${text}: expected K/N`);
  });
});

describe('The parts', () => {
  it('hold every mutant once', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(), { maxLength: 40, size: 'max' }),
        fc.integer({ min: 1, max: 9 }),
        (all, of) => {
          const parts = Array.from({ length: of }, (_, part) => partOf(all, { part: part + 1, of }));
          expect(parts.flat().sort()).toEqual([...all].sort());
          const sizes = parts.map(({ length }) => length);
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 200 },
    );
  });
});
