import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cell, columnsOf, fit, numberCell, wrapped } from '../../cells.ts';

describe('the cells of a terminal', () => {
  it('count two columns for characters of East Asia and pictures, and none for marks', () => {
    expect(['mars', '火星', '🚀', 'e\u0301'].map(columnsOf)).toEqual([4, 4, 2, 1]);
  });

  it('cut a text with an ellipsis, never through a character', () => {
    expect(fit('mars', 4)).toBe('mars');
    expect(fit('neptune', 4)).toBe('nep…');
    expect(fit('火星火星', 4)).toBe('火…');
    expect(fit('mars', 0)).toBe('');
    expect(numberCell('12', 5)).toBe('   12');
  });

  it('are as wide as they are to be, whatever is in them', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, columns) => {
        expect(columnsOf(cell(text, columns))).toBe(columns);
        expect(columnsOf(fit(text, columns))).toBeLessThanOrEqual(columns);
      }),
    );
  });

  it('break a sentence between words, and cut what is too much', () => {
    expect(wrapped('one two three four', 9, 3)).toEqual(['one two', 'three', 'four']);
    expect(wrapped('one two three four', 9, 2)).toEqual(['one two', 'three fo…']);
    expect(wrapped('', 9, 2)).toEqual(['']);
  });
});
