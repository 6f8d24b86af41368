import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { JsonValue } from '../../runtime/protocol/json-value.ts';

const arbNoJson = fc.constantFrom<unknown>(
  undefined,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1n,
  Symbol('s'),
  () => 1,
  new Date(0),
  new Map(),
);

describe('What JSON can say', () => {
  it('is what zod says it is, and a copy', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read = JsonValue.parse(value);
        expect(read).toEqual(z.json().parse(value));
        if (typeof value === 'object' && value !== null) expect(read).not.toBe(value);
      }),
      { numRuns: 200 },
    );
  });

  it('is nothing else, wherever it stands', () => {
    fc.assert(
      fc.property(arbNoJson, fc.constantFrom('whole', 'item', 'field'), (value, where) => {
        const said = { whole: value, item: [1, [value]], field: { a: { b: value } } }[where];
        expect(JsonValue.safeParse(said).success).toBe(false);
        expect(z.json().safeParse(said).success).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  it('refuses circles, and makes nothing after what it names', () => {
    const circle: unknown[] = [];
    circle.push(circle);
    expect(JsonValue.safeParse(circle).success).toBe(false);
    const named = JsonValue.parse(JSON.parse('{"__proto__":{"isAdmin":true},"a":1}')) as object;
    expect(Object.getPrototypeOf(named)).toBe(Object.prototype);
    expect(named).toEqual({ a: 1 });
  });
});
