import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Column, entry } from '../../../runtime/link/batch.ts';

const hops = [{ agent: 'a' }];
// Few enough that neighbours are often the same; of objects, the same one and equal ones.
const value = fc.oneof(
  { arbitrary: fc.constantFrom<unknown>(0, 1, '', '0', 'a'), weight: 3 },
  fc.constantFrom<unknown>(hops, [], null),
  fc.constant(null).map(() => [{ agent: 'a' }]),
);

describe('Column', () => {
  it('has at each position what was pushed there, and is empty when it was taken', () => {
    const column = new Column<unknown>();
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 12 }), fc.boolean(), (values, isWhole) => {
        for (const one of values) column.push(one);
        const taken = isWhole ? column.takeAll() : (JSON.parse(JSON.stringify(column.take())) as unknown);
        expect(values.map((_, at) => entry(taken, at))).toEqual(values);
        if (isWhole) expect(taken).toHaveLength(values.length);
        expect([column.take(), column.takeAll()]).toEqual([undefined, []]);
      }),
      { numRuns: 500 },
    );
  });

  it('writes what all have in common once, unless it is an object', () => {
    const column = new Column<unknown>();
    for (const same of ['x', 'x', 'x']) column.push(same);
    expect(column.take()).toBe('x');
    for (const same of [hops, hops]) column.push(same);
    expect(column.take()).toEqual([hops, hops]);
  });
});
