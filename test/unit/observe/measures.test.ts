import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mostOf } from '../../../runtime/observe/measures.ts';

describe('mostOf', () => {
  it('gives the rows with most, of equals those that came first', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9)), fc.integer({ min: 1, max: 12 }), (amounts, limit) => {
        const rows = amounts.map((amount, at) => ({ amount, at }));
        const sorted = rows.toSorted((one, other) => other.amount - one.amount || one.at - other.at);
        expect(mostOf(rows, ({ amount }) => amount, limit)).toEqual(sorted.slice(0, limit));
      }),
    );
  });
});
